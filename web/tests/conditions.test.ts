import { describe, expect, it } from "vitest";
import {
  type Condition,
  comparisonsFor,
  type ValueType,
  writeCondition,
  writeFilter,
  writeName,
} from "../src/model/conditions";
import { readFilter } from "../src/model/conditions-reader";

function row(attribute: string, comparison: Condition["comparison"], value = ""): Condition {
  return { attribute, comparison, value };
}

const CASES: [Condition, ValueType[], string][] = [
  [row("mag", ">=", "4.5"), ["number"], "mag >= 4.5"],
  [row("mag", "=", " 1e3 "), ["number"], "mag = 1000"],
  [row("code", "=", "0042"), ["text"], "code = '0042'"],
  [row("place", "=", "l'Aquila"), ["text"], "place = 'l''Aquila'"],
  [row("path", "<>", "a\\b"), ["text"], "path <> 'a\\\\b'"],
  [row("wind speed", ">", "3"), ["number"], '"wind speed" > 3'],
  [row("in", "present"), [], '"in" IS NOT NULL'],
  [row("felt", "true"), ["boolean"], "felt = TRUE"],
  [row("felt", "false"), ["boolean"], "felt = FALSE"],
  [row("depth", "missing"), [], "depth IS NULL"],
  [row("place", "contains", "50%"), ["text"], "CASEI(place) LIKE CASEI('%50\\\\%%')"],
  [row("place", "starts", "San "), ["text"], "CASEI(place) LIKE CASEI('San %')"],
  [row("type", "in", "quake, blast"), ["text"], "type IN ('quake', 'blast')"],
  [row("grade", "in", "1, 2"), ["number"], "grade IN (1, 2)"],
  [row("Größe", ">", "2"), ["number"], "Größe > 2"],
];

describe("conditions", () => {
  it.each(CASES)("%j is written as CQL2", (condition, types, expected) => {
    expect(writeCondition(condition, types)).toBe(expected);
  });

  it.each(CASES)(
    "%j is read back, whatever is known of the attribute",
    (condition, types, text) => {
      const read = readFilter(text)?.rows[0] as Condition;
      expect(read.attribute).toBe(condition.attribute);
      expect(read.comparison).toBe(condition.comparison);
      for (const known of [types, [], ["number"], ["text"]] as ValueType[][])
        expect(writeCondition(read, known)).toBe(text);
    },
  );

  it.each(["zip = '8001'", "zip IN ('8001', '8002')", "n IN (1, 2)"])(
    "%s is not changed by the form",
    (text) => {
      const read = readFilter(text);
      expect(writeFilter(read?.rows ?? [], "AND", () => [])).toBe(text);
    },
  );

  it("are joined, and rows that say nothing are left out", () => {
    const rows = [row("a", "=", "1"), row("", "=", "2"), row("b", "=", ""), row("c", "present")];
    expect(writeFilter(rows, "AND", () => [])).toBe("a = 1 AND c IS NOT NULL");
    expect(writeFilter(rows, "OR", () => [])).toBe("a = 1 OR c IS NOT NULL");
    expect(writeFilter([], "AND", () => [])).toBe("");
  });

  it("keep separators that stand in quotes", () => {
    const read = readFilter("a = 'x AND y' AND b = 2");
    expect(read?.rows.map(({ value }) => value)).toEqual(["x AND y", "2"]);
  });

  it.each([
    "a = 1 AND b = 2 OR c = 3",
    "NOT (a = 1)",
    "a + 1 > 2",
    "S_WITHIN(geometry, BBOX(1,2,3,4))",
    "CASEI(place) LIKE CASEI('%a%b%')",
    "a = ' x '",
    "a = 1.50",
    "a IN ('x', 2)",
    "a IN ('x,y', 'z')",
  ])("%s stays text", (text) => {
    expect(readFilter(text)).toBeNull();
  });

  it("offer what fits the values", () => {
    expect(comparisonsFor(["number"])).not.toContain("contains");
    expect(comparisonsFor(["text"])).not.toContain(">");
    expect(comparisonsFor(["boolean"])[0]).toBe("true");
  });

  it("quote names with other characters", () => {
    expect(writeName('odd"name')).toBe('"odd""name"');
    expect(writeName("detail.source")).toBe("detail.source");
  });
});
