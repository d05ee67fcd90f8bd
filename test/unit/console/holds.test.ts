import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { AccountKeySchema } from "../../../gen/client/tss/v1/account_pb.ts";
import { Holder_State } from "../../../gen/client/tss/v1/sharing_pb.ts";
import {
  SignRequest_Hold_State as Hold,
  SignRequest_HoldSchema,
} from "../../../gen/client/tss/v1/signing_pb.ts";
import { mayAct, whyNot } from "../../../src/console/signing/hold-rights.ts";
import { canRemove, holderKind } from "../../../src/console/signing/holder-kind.ts";

const request = (state: Hold) => ({
  hold: create(SignRequest_HoldSchema, { state, expireTime: timestampFromMs(10_000) }),
});
const reasons = (state: Hold, scopes: readonly string[] | undefined, nowMs = 0) =>
  (["release", "cancel"] as const).map((action) =>
    whyNot(action, { request: request(state), scopes, nowMs }),
  );

it("a key releases with the scope release, and cancels with one of three", () => {
  const cannotRelease = "The key lacks the scope release.";
  expect(reasons(Hold.held, ["release"])).toEqual([undefined, undefined]);
  for (const scope of ["sign", "propose"])
    expect(reasons(Hold.held, [scope])).toEqual([cannotRelease, undefined]);
  expect(reasons(Hold.held, ["read"])).toEqual([
    cannotRelease,
    "The key lacks the scope sign, propose or release.",
  ]);
});

it("only a held half can be released or cancelled, and only in time released", () => {
  for (const state of [Hold.reserved, Hold.verifying])
    expect(new Set(reasons(state, ["release"]))).toEqual(
      new Set(["The network has not verified the half yet."]),
    );
  for (const state of [Hold.released, Hold.ended])
    expect(new Set(reasons(state, ["release"]))).toEqual(new Set(["The half is not held any more."]));
  expect(reasons(Hold.held, ["release"], 10_000)).toEqual(["The time of the hold is over.", undefined]);
});

it("a key may act if it is valid, has a scope for it, and reaches the dWallet", () => {
  const may = (key: MessageInitShape<typeof AccountKeySchema>) =>
    mayAct("release", {
      key: create(AccountKeySchema, { scopes: ["release"], ...key }),
      request: { userReference: "alice", dwalletId: "0x1" },
      nowMs: 5_000,
    });
  expect(may({})).toBe(true);
  expect(may({ scopes: ["sign"] })).toBe(false);
  expect(may({ revokeTime: timestampFromMs(1) })).toBe(false);
  expect([may({ expireTime: timestampFromMs(5_000) }), may({ expireTime: timestampFromMs(5_001) })]).toEqual([
    false,
    true,
  ]);
  const reaches = (userReferences: string[], dwalletIds: string[] = []) =>
    may({ allowance: { userReferences, dwalletIds } });
  expect([reaches(["bob"]), reaches(["bob", "alice"])]).toEqual([false, true]);
  expect([reaches([], ["0x2"]), reaches(["alice"], ["0x1"])]).toEqual([false, true]);
});

it("a holder is another user, another key of the owner, or a key of no user", () => {
  expect(holderKind({ userReference: "bob" }, "alice")).toBe("another user");
  expect(holderKind({ userReference: "bob" }, undefined)).toBe("another user");
  expect(holderKind({ userReference: "alice" }, "alice")).toBe("another key of the owner");
  expect(holderKind({}, undefined)).toBe("a key of no user, such as a recovery");
});

it("a holder can be removed once the network has verified the share, and not twice", () => {
  const states = ["Submitting", "AwaitingNetworkVerification", "NetworkVerificationRejected"] as const;
  for (const state of [...states, "Removed"] as const)
    expect(canRemove({ state: Holder_State[state] }), state).toBe(false);
  for (const state of ["AwaitingAcceptance", "Accepted"] as const)
    expect(canRemove({ state: Holder_State[state] }), state).toBe(true);
});
