import { describe, expect, it } from "vitest";
import { answer } from "../src/api/client";
import { Problem, problemOf, wordsFor } from "../src/api/problem";

describe("a refusal", () => {
  it("is told in whole sentences", () => {
    const found = problemOf({ detail: "the link was used already" }, 404);
    expect(wordsFor(found)).toBe("The link was used already.");
    expect(wordsFor(problemOf({}, 502))).toBe("The service answered 502.");
    expect(wordsFor(problemOf(undefined, 0))).toBe("");
  });

  it("says where in a filter it cannot be understood", () => {
    const found = problemOf({ detail: "filter refused at position 7: unexpected" }, 422);
    expect(found).toBeInstanceOf(Problem);
    expect(found.position).toBe(7);
    expect(problemOf({ detail: "no", position: 3 }, 422).position).toBe(3);
  });

  it("that never came is said so", async () => {
    const nobody = Promise.reject(new TypeError("Failed to fetch"));
    await expect(answer(nobody)).rejects.toThrow("The service cannot be reached.");
  });
});
