import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  SignRequest_Hold_State as Hold,
  SignRequest_HoldSchema,
  SignRequest_Status as Status,
} from "../../../gen/client/tss/v1/signing_pb.ts";
import { actorId, ledgerEntriesOf, signStory } from "../../../src/console/signing/sign-story.ts";

const at = timestampFromMs;
const TIMES = { createTime: at(1_000), submitTime: at(3_000), sendTime: at(3_500), landTime: at(4_000) };
const outline = (stages: ReturnType<typeof signStory>) =>
  stages.map(({ name, fromMs, toMs, outcome }) => [name, fromMs, toMs, outcome]);

it("the stages of a signature follow each other without a gap, until the signature", () => {
  const request = { ...TIMES, status: Status.completed, updateTime: at(6_000) };
  expect(outline(signStory(request, 99_000))).toEqual([
    ["Reserved", 1_000, 3_000, "done"],
    ["Half received", 3_000, 3_500, "done"],
    ["Sent", 3_500, 4_000, "done"],
    ["Signing", 4_000, 6_000, "done"],
  ]);
});

it("the newest stage of an open request lasts until now", () => {
  const { createTime, submitTime } = TIMES;
  const request = { createTime, submitTime, status: Status.queued, updateTime: submitTime };
  expect(outline(signStory(request, 5_000))).toEqual([
    ["Reserved", 1_000, 3_000, "done"],
    ["Half received", 3_000, 5_000, "now"],
  ]);
});

it("a stage does not end before it begins, even if the browser's clock is behind", () => {
  const request = { createTime: at(9_000), status: Status.prepared, updateTime: at(9_000) };
  expect(outline(signStory(request, 5_000))).toEqual([["Reserved", 9_000, 9_000, "now"]]);
});

it("no stage begins before the one that it follows, even if the replicas' clocks differ", () => {
  const request = { ...TIMES, sendTime: at(500), status: Status.completed, updateTime: at(6_000) };
  expect(outline(signStory(request, 99_000))).toEqual([
    ["Reserved", 1_000, 3_000, "done"],
    ["Half received", 3_000, 3_000, "done"],
    ["Sent", 3_000, 4_000, "done"],
    ["Signing", 4_000, 6_000, "done"],
  ]);
});

it("the stage in which a request failed is marked, and ends with the failure", () => {
  const expired = { createTime: at(1_000), status: Status.failed, updateTime: at(7_000) };
  expect(outline(signStory(expired, 99_000))).toEqual([["Reserved", 1_000, 7_000, "failed"]]);
  const rejected = { ...TIMES, status: Status.failed, updateTime: at(7_000) };
  expect(outline(signStory(rejected, 99_000)).at(-1)).toEqual(["Signing", 4_000, 7_000, "failed"]);
});

it("a state that began without a recorded stage begins with its change", () => {
  const { createTime, submitTime } = TIMES;
  const adopted = { createTime, submitTime, status: Status.submitted, updateTime: at(4_500) };
  expect(outline(signStory(adopted, 5_000)).at(-1)).toEqual(["Signing", 4_500, 5_000, "now"]);
});

it("a charge is an entry of the ledger, and so is its refund; a hold is none", () => {
  const request = { signRequestId: "id", priceMicroUsd: 40n, updateTime: at(7_000) };
  const failure = (refunded: boolean) => ({ reason: "", message: "", refunded, $typeName: FAILURE }) as const;
  expect(ledgerEntriesOf({ ...request, status: Status.prepared })).toEqual([]);
  expect(ledgerEntriesOf({ ...request, status: Status.failed, failure: failure(false) })).toEqual([]);
  const charge = { id: "sign:id", amountMicroUsd: -40n, time: at(3_000) };
  const submitted = { ...request, submitTime: at(3_000) };
  expect(ledgerEntriesOf({ ...submitted, status: Status.completed })).toEqual([charge]);
  expect(ledgerEntriesOf({ ...submitted, status: Status.failed, failure: failure(false) })).toEqual([charge]);
  expect(ledgerEntriesOf({ ...submitted, status: Status.failed, failure: failure(true) })).toEqual([
    charge,
    { id: "refund:id", amountMicroUsd: 40n, time: at(7_000) },
  ]);
});

describe("a request with a hold", () => {
  const hold = (state: Hold, txDigest?: string) =>
    create(SignRequest_HoldSchema, { state, priceMicroUsd: 4n, ...(txDigest && { txDigest }) });
  const { createTime, submitTime } = TIMES;
  const open = { createTime, status: Status.queued, updateTime: at(2_000) };

  it("has the stage of its hold, until its release has a time", () => {
    const named = (state: Hold) => outline(signStory({ ...open, hold: hold(state) }, 5_000)).at(-1);
    expect(named(Hold.verifying)).toEqual(["Half received", 2_000, 5_000, "now"]);
    expect(named(Hold.held)).toEqual(["Held", 2_000, 5_000, "now"]);
    expect(named(Hold.released)).toEqual(["Released", 2_000, 5_000, "now"]);
    const released = { ...open, submitTime, hold: hold(Hold.released) };
    expect(outline(signStory(released, 5_000))).toEqual([
      ["Reserved", 1_000, 3_000, "done"],
      ["Released", 3_000, 5_000, "now"],
    ]);
  });

  it("keeps the price of the hold only if the half was held and nobody released it", () => {
    const entries = (reason: string, of: ReturnType<typeof hold>) =>
      ledgerEntriesOf({
        ...{ signRequestId: "id", priceMicroUsd: 40n, status: Status.failed, hold: of },
        failure: { reason, message: "", refunded: true, $typeName: FAILURE },
      }).map(({ amountMicroUsd }) => amountMicroUsd);
    for (const reason of ["SIGN_CANCELLED", "HOLD_EXPIRED", "DWALLET_LEFT"])
      expect(entries(reason, hold(Hold.ended, "digest"))).toEqual([-40n, 36n]);
    // The network refused the half, the chain did, and the dWallet left after the release.
    expect(entries("NETWORK_REJECTED", hold(Hold.ended, "digest"))).toEqual([-40n, 40n]);
    expect(entries("DWALLET_LEFT", hold(Hold.ended))).toEqual([-40n, 40n]);
    expect(entries("DWALLET_LEFT", hold(Hold.released, "digest"))).toEqual([-40n, 40n]);
  });
});

it("an actor is a key, a session or something else", () => {
  expect(actorId("key:1", "key")).toBe("1");
  expect(actorId("key:1", "session")).toBeUndefined();
  expect(actorId("session:2", "session")).toBe("2");
  expect(actorId("admin:alice", "key")).toBeUndefined();
});

const FAILURE = "tss.v1.SignRequest.Failure";
