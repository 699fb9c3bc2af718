// The place of the event that is about to be published by hand.
import type { PlainGeometry } from "../model/geometry";
import { Observable } from "./observable";

export const publishPlace = new Observable<PlainGeometry | null>(null);
