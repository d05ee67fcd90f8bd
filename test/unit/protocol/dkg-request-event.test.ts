import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { expect, test } from "vitest";
import { MalformedBytesError } from "../../../src/protocol/bytes.ts";
import { isDkgRequestEvent, parseDkgRequestEvent } from "../../../src/protocol/chain/chain-objects.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const preimage = Array.from({ length: 32 }, (_, index) => index);

/** An event as the Ika SDK encodes it. */
const written = SessionsManagerModule.DWalletSessionEvent(CoordinatorInnerModule.DWalletDKGRequestEvent)
  .serialize({
    epoch: "9",
    session_object_id: id("8"),
    session_type: { User: true },
    session_sequence_number: "7",
    session_identifier_preimage: preimage,
    event_data: {
      dwallet_id: id("1"),
      centralized_public_key_share_and_proof: [1, 2, 3],
      user_public_output: [4],
      dwallet_cap_id: id("2"),
      dwallet_network_encryption_key_id: id("3"),
      curve: 2,
      user_secret_key_share: { Public: { public_user_secret_key_share: [5] } },
      sign_during_dkg_request: null,
    },
  } as never)
  .toBytes();

test("a DKG's request event has the session's preimage and the dWallet", () => {
  expect(parseDkgRequestEvent(written)).toEqual({ preimage: Uint8Array.from(preimage), dwalletId: id("1") });
  expect(() => parseDkgRequestEvent(written.subarray(0, 100))).toThrow(MalformedBytesError);
});

test("a DKG's request event is recognised by the package and the name of its type", () => {
  const type = (session: string, request: string): string =>
    `${id("a")}::sessions_manager::${session}<${id("a")}::coordinator_inner::${request}>`;
  expect(isDkgRequestEvent(type("DWalletSessionEvent", "DWalletDKGRequestEvent"))).toBe(true);
  const imported = type("DWalletSessionEvent", "DWalletImportedKeyVerificationRequestEvent");
  expect(isDkgRequestEvent(imported)).toBe(true);
  expect(isDkgRequestEvent(type("DWalletSessionEvent", "SignRequestEvent"))).toBe(false);
  expect(isDkgRequestEvent(type("DWalletSessionResultEvent", "DWalletDKGRequestEvent"))).toBe(false);
});
