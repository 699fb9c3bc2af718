import { describe, expect, it } from "vitest";
import { readValue } from "../src/model/attribute-values";
import { ReadState } from "../src/state/read-state";

function memory() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

describe("what was read", () => {
  it("is kept between visits, for each account", () => {
    const storage = memory();
    const first = new ReadState("ann", storage);
    expect(first.firstVisit).toBe(true);
    first.see(9);
    first.add("area", 2);
    first.save();
    const second = new ReadState("ann", storage);
    expect(second.firstVisit).toBe(false);
    expect(second.seenAtStart).toBe(9);
    expect(second.unread).toEqual({ area: 2 });
    expect(new ReadState("bob", storage).firstVisit).toBe(true);
  });

  it.each(["nonsense", "null", "[]", '{"seen": "x"}'])("survives %s in its place", (text) => {
    const state = new ReadState("ann", { getItem: () => text, setItem: () => {} });
    expect(state.firstVisit).toBe(true);
    expect(state.seen).toBe(0);
  });

  it("goes back to nothing when it is opened", () => {
    const state = new ReadState("ann", memory());
    state.add("area", 5);
    state.read("area");
    expect(state.unread).toEqual({});
  });

  it("is never more than what waits", () => {
    const state = new ReadState("ann", memory());
    state.add("area", 5);
    state.add("gone", 5);
    state.limit({ area: 3 });
    expect(state.unread).toEqual({ area: 3 });
  });
});

describe("a typed value", () => {
  it.each([
    ["4.5", 4.5],
    ["true", true],
    ["0042", "0042"],
    ["", ""],
    ["[1, 2]", [1, 2]],
    ["{broken", "{broken"],
    ["<b>x</b>", "<b>x</b>"],
  ])("%s is %j", (text, expected) => {
    expect(readValue(text)).toEqual(expected);
  });
});
