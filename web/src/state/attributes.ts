// The attributes that events were seen to have.
import { answer, type Schemas, service } from "../api/client";
import type { ValueType } from "../model/conditions";
import { Observable } from "./observable";

export type Attribute = Schemas["Attribute"];

export const attributes = new Observable<readonly Attribute[]>([]);

export async function loadAttributes(): Promise<void> {
  attributes.value = await answer(service.GET("/v1/attributes"));
}

export function attributeOf(name: string): Attribute | undefined {
  return attributes.value.find((one) => one.name === name);
}

export function typesOf(name: string): readonly ValueType[] {
  const types = attributeOf(name)?.types ?? [];
  return types.filter((type): type is ValueType => type !== "array" && type !== "object");
}
