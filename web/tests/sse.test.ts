import { afterEach, describe, expect, it, vi } from "vitest";
import { EventParser, follow, type ServerEvent } from "../src/api/sse";

describe("the parser of server-sent events", () => {
  it("reads what the gateway sends", () => {
    const parser = new EventParser();
    const text = 'retry: 500\n\nid: 7\nevent: match\ndata: {"a":1}\n\n:\n\n';
    expect(parser.push(text)).toEqual([{ id: "7", event: "match", data: '{"a":1}' }]);
    expect(parser.retry).toBe(500);
  });

  it("does not mind where the text is cut", () => {
    const text = "id: 1\r\nevent: events\r\ndata: first\r\ndata: second\r\n\r\ndata\n\n";
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new EventParser();
      const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(
        found.map(({ data }) => data),
        `cut at ${cut}`,
      ).toEqual(["first\nsecond", ""]);
    }
  });

  it("keeps the last id, and names events that have no name", () => {
    const parser = new EventParser();
    const found = parser.push("id: 3\ndata: a\n\ndata: b\n\n");
    expect(found.map(({ id, event }) => [id, event])).toEqual([
      ["3", "message"],
      ["3", "message"],
    ]);
  });
});

describe("a stream that is cut", () => {
  it("keeps the id of the last event that was complete", () => {
    const parser = new EventParser();
    parser.push("id: 3\ndata: a\n\nid: 4\ndata: ha");
    expect(parser.lastId).toBe("3");
    parser.restart();
    expect(parser.push("id: 4\ndata: half no more\n\n")).toEqual([
      { id: "4", event: "message", data: "half no more" },
    ]);
    expect(parser.lastId).toBe("4");
  });
});

describe("a stream", () => {
  afterEach(() => vi.restoreAllMocks());

  function answerOf(text: string): Response {
    return new Response(text, { headers: { "Content-Type": "text/event-stream" } });
  }

  it("connects again after what was seen, with the token as a header", async () => {
    const seen: ServerEvent[] = [];
    const asked = vi
      .spyOn(globalThis, "fetch")
      .mockImplementationOnce(async () => answerOf("retry: 1\nid: 5\ndata: a\n\n"))
      .mockImplementationOnce(async () => answerOf("id: 6\ndata: b\n\n"))
      .mockImplementation(async () => new Response("", { status: 401 }));
    await new Promise<void>((resolve) => {
      follow({
        url: "http://localhost/v1/stream",
        headers: () => ({ Authorization: "Bearer t" }),
        onEvents: (events) => seen.push(...events),
        onState: () => {},
        onRefused: () => resolve(),
      });
    });
    expect(seen.map(({ data }) => data)).toEqual(["a", "b"]);
    const headers = asked.mock.calls.map(([, init]) => init?.headers as Record<string, string>);
    expect(headers[1]).toMatchObject({ "Last-Event-ID": "5", Authorization: "Bearer t" });
    expect(String(asked.mock.calls[0]?.[0])).not.toContain("token");
  });

  it("goes on from where it can, if the service does not know the place any more", async () => {
    const asked = vi
      .spyOn(globalThis, "fetch")
      .mockImplementationOnce(async () => new Response("", { status: 422 }))
      .mockImplementationOnce(async () => answerOf("id: 6\ndata: b\n\n"))
      .mockImplementation(async () => new Response("", { status: 401 }));
    const seen: ServerEvent[] = [];
    await new Promise<void>((resolve) => {
      follow({
        url: "http://localhost/v1/stream",
        headers: () => ({}),
        lastId: "old",
        onEvents: (events) => seen.push(...events),
        onState: () => {},
        onRefused: () => resolve(),
      });
    });
    expect(seen.map(({ data }) => data)).toEqual(["b"]);
    const headers = asked.mock.calls.map(([, init]) => init?.headers as Record<string, string>);
    expect(headers.map((one) => one["Last-Event-ID"])).toEqual(["old", undefined, "6"]);
  });

  it("that says nothing for long is given up, and opened again", async () => {
    vi.useFakeTimers();
    const silent = () => new Response(new ReadableStream({ start: () => {} }));
    const asked = vi
      .spyOn(globalThis, "fetch")
      .mockImplementationOnce(async () => silent())
      .mockImplementation(async () => new Response("", { status: 401 }));
    const refused = new Promise<void>((resolve) => {
      follow({
        url: "http://localhost/v1/stream",
        headers: () => ({}),
        onEvents: () => {},
        onState: () => {},
        onRefused: () => resolve(),
      });
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(asked).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(20_000);
    await refused;
    expect(asked).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});
