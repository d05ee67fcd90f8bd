import { describe, expect, it } from "vitest";
import {
  type FollowState,
  planFollow,
} from "../../../../../src/service/billing/deposits/follow-checkpoints.ts";

const plan = (change: Partial<FollowState>) =>
  planFollow({ next: 1_000n, seen: undefined, latest: 999n, isUnreadable: false, ...change });

describe("the follower of checkpoints", () => {
  it("begins after the newest checkpoint", () => {
    expect(plan({ next: null })).toEqual({ kind: "advance", to: 1_000n });
    expect(plan({ next: null, seen: { first: 1_000n, last: 1_002n } })).toEqual({
      kind: "advance",
      to: 1_003n,
    });
  });

  it("advances with a stream that starts at its position or before", () => {
    for (const first of [1_000n, 900n])
      expect(plan({ seen: { first, last: 1_004n } })).toEqual({ kind: "advance", to: 1_005n });
  });

  it("rests if nothing is new, or if this replica of the fullnode is slightly behind", () => {
    expect(plan({})).toEqual({ kind: "rest" });
    expect(plan({ latest: 760n })).toEqual({ kind: "rest" });
    expect(plan({ seen: { first: 790n, last: 800n } })).toEqual({ kind: "rest" });
  });

  it("reads the checkpoints before the stream, or up to the newest one, fifty at a time", () => {
    expect(plan({ seen: { first: 1_100n, last: 1_104n } })).toEqual({
      kind: "read",
      from: 1_000n,
      to: 1_050n,
    });
    expect(plan({ next: 1_090n, seen: { first: 1_100n, last: 1_104n } })).toEqual({
      kind: "read",
      from: 1_090n,
      to: 1_100n,
    });
    expect(plan({ latest: 1_009n })).toEqual({ kind: "read", from: 1_000n, to: 1_010n });
  });

  it("skips checkpoints that are too many or cannot be read, with a scan of every address", () => {
    expect(plan({ latest: 2_199n })).toMatchObject({ kind: "read" });
    expect(plan({ latest: 2_200n })).toEqual({ kind: "skip", to: 2_201n });
    expect(plan({ latest: 1_009n, isUnreadable: true })).toEqual({ kind: "skip", to: 1_010n });
  });

  it("goes back from a position that the chain never had, with a scan of every address", () => {
    expect(plan({ next: 2n ** 60n })).toEqual({ kind: "skip", to: 1_000n });
    expect(plan({ next: 2n ** 60n, seen: { first: 990n, last: 1_000n } })).toEqual({
      kind: "skip",
      to: 1_001n,
    });
  });
});
