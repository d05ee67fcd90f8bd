import { describe, expect, it } from "vitest";
import {
  formatTraceParent,
  parseTraceContext,
} from "../../../../../src/service/platform/telemetry/tracer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("a traceparent", () => {
  it("has trace, span and sampling flag, and is formatted as it was parsed", () => {
    const text = `00-${TRACE}-${SPAN}-01`;
    const context = parseTraceContext(text)!;
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1 });
    expect(formatTraceParent(context)).toBe(text);
    expect(parseTraceContext(`00-${TRACE}-${SPAN}-00`)?.traceFlags).toBe(0);
  });

  it("of a later version may have more fields", () => {
    expect(parseTraceContext(`cc-${TRACE}-${SPAN}-03-what-the-future-brings`)).toMatchObject({
      traceId: TRACE,
      traceFlags: 1,
    });
  });

  it.each([
    ["nothing", undefined],
    ["no text", ["00"]],
    ["empty", ""],
    ["more than version 00 has", `00-${TRACE}-${SPAN}-01-more`],
    ["the version that must not be", `ff-${TRACE}-${SPAN}-01`],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["a short trace id", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["something before it", ` 00-${TRACE}-${SPAN}-01`],
    ["another line", `00-${TRACE}-${SPAN}-01\nx`],
  ])("that is %s is ignored", (_name, text) => {
    expect(parseTraceContext(text)).toBeUndefined();
  });

  it("passes on its tracestate, unless that is too long", () => {
    const text = `00-${TRACE}-${SPAN}-01`;
    expect(parseTraceContext(text, "vendor=1")?.traceState?.serialize()).toBe("vendor=1");
    expect(parseTraceContext(text, "v".repeat(513))?.traceState).toBeUndefined();
  });
});
