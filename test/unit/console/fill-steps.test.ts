import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { fillSteps } from "../../../src/console/format/fill-steps.ts";

const at = (seconds: number) => timestampFromMs(seconds * 1_000);
const step = (seconds: number) => ({ startTime: at(seconds), seconds });

it("a filled window has every step, with the given ones in their places", () => {
  const window = { startTime: at(600), endTime: at(900), stepSeconds: 60 };
  const { times, steps } = fillSteps(window, [step(660), step(840)]);
  expect(times).toEqual([600, 660, 720, 780, 840]);
  expect(steps.map((each) => each?.seconds)).toEqual([undefined, 660, undefined, undefined, 840]);
});

it("a filled window may have a shorter last step", () => {
  expect(fillSteps({ startTime: at(0), endTime: at(70), stepSeconds: 60 }, []).times).toEqual([0, 60]);
});

it("a filled list is empty without a window", () => {
  const nothing = { times: [], steps: [] };
  expect(fillSteps({ endTime: at(60), stepSeconds: 60 }, [])).toEqual(nothing);
  expect(fillSteps({ startTime: at(0), endTime: at(60), stepSeconds: 0 }, [])).toEqual(nothing);
});
