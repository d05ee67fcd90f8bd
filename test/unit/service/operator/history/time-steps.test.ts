import { describe, expect, it } from "vitest";
import { timeSteps, type WantedWindow } from "../../../../../src/service/operator/history/time-steps.ts";
import { ServiceError } from "../../../../../src/service/platform/errors/service-error.ts";

const HOUR_MS = 3_600_000;
const now = new Date("2026-11-21T10:30:17.250Z");
const at = (time: string) => new Date(`2026-11-21T${time}Z`);
const wanted = (window: Partial<WantedWindow> = {}) =>
  timeSteps(
    { start: undefined, end: undefined, stepSeconds: 0, ...window },
    { now, defaultMs: HOUR_MS, maxMs: 24 * HOUR_MS },
  );

function faultOf(window: Partial<WantedWindow>): readonly unknown[] {
  try {
    wanted(window);
  } catch (error) {
    if (error instanceof ServiceError) return error.violations;
  }
  return [];
}

describe("a window", () => {
  it("without bounds ends with the current step, and is an hour of sixty steps", () => {
    expect(wanted()).toEqual({ start: at("09:31:00"), end: at("10:31:00"), stepSeconds: 60 });
  });

  it("is exactly the requested one, if the request has both bounds", () => {
    const window = { start: at("09:00:01"), end: at("09:07:03"), stepSeconds: 100 };
    expect(wanted(window)).toEqual(window);
  });

  it("has steps of a sixtieth of its length", () => {
    expect(wanted({ start: at("00:00:00"), end: at("10:00:00") }).stepSeconds).toBe(600);
    expect(wanted({ start: at("00:00:00"), end: at("00:01:00") }).stepSeconds).toBe(60);
  });

  it("may begin the maximum time before now, although its last step has not ended", () => {
    expect(wanted({ start: new Date(now.getTime() - 24 * HOUR_MS) }).start).toEqual(
      new Date("2026-11-20T10:30:17.250Z"),
    );
  });

  it.each<[string, Partial<WantedWindow>, string]>([
    ["that ends before it begins", { start: at("10:00:00"), end: at("09:00:00") }, "start_time"],
    ["that is empty", { start: at("10:00:00"), end: at("10:00:00") }, "start_time"],
    ["that is too long", { start: new Date("2026-11-20T09:59:59Z"), end: at("10:00:00") }, "start_time"],
    ["with steps that are too short", { stepSeconds: 59 }, "step_seconds"],
    ["with too many steps", { start: at("00:00:00"), end: at("10:00:00"), stepSeconds: 60 }, "step_seconds"],
  ])("%s is refused, with the field's name", (_, window, field) => {
    expect(faultOf(window)).toEqual([expect.objectContaining({ field })]);
  });
});
