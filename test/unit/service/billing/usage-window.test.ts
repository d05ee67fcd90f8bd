import { describe, expect, it } from "vitest";
import { usageWindow } from "../../../../src/service/billing/read-usage.ts";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";

const now = new Date("2026-11-21T10:30:17.250Z");
const at = (time: string) => new Date(`${time}Z`);
type Wanted = Parameters<typeof usageWindow>[0];
const open = { start: undefined, end: undefined };

function faultOf(wanted: Wanted): readonly unknown[] {
  try {
    usageWindow(wanted, now);
  } catch (error) {
    if (error instanceof ServiceError) return error.violations;
  }
  return [];
}

describe("the window of a project's usage", () => {
  it("is the last thirty days, or the last 24 hours, including the current one", () => {
    expect(usageWindow({ ...open, step: "day" }, now)).toEqual({
      step: "day",
      start: at("2026-10-23T00:00"),
      end: at("2026-11-22T00:00"),
    });
    expect(usageWindow({ ...open, step: "hour" }, now)).toEqual({
      step: "hour",
      start: at("2026-11-20T11:00"),
      end: at("2026-11-21T11:00"),
    });
  });

  it("is widened to whole steps in UTC", () => {
    const window = { start: at("2026-11-19T23:59:59"), end: at("2026-11-20T00:00:01") };
    expect(usageWindow({ ...window, step: "day" }, now)).toMatchObject({
      start: at("2026-11-19T00:00"),
      end: at("2026-11-21T00:00"),
    });
  });

  it.each<[string, Wanted]>([
    ["is empty", { start: at("2026-11-20T01:00"), end: at("2026-11-20T01:00"), step: "hour" }],
    ["ends before it begins", { start: at("2026-11-20T02:00"), end: at("2026-11-20T01:00"), step: "hour" }],
    [
      "has over 7 days of hours",
      { start: at("2026-11-13T00:00"), end: at("2026-11-21T00:00"), step: "hour" },
    ],
    ["has over 92 days", { start: at("2026-08-01T00:00"), end: at("2026-11-21T00:00"), step: "day" }],
    ["begins after now", { start: at("2026-11-23T00:00"), end: undefined, step: "day" }],
  ])("is refused with the field's name when it %s", (_, wanted) => {
    expect(faultOf(wanted)).toEqual([expect.objectContaining({ field: "start_time" })]);
  });
});
