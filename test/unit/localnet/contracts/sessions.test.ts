import { SessionsManagerModule } from "@ika.xyz/sdk";
import { expect, it } from "vitest";
import {
  requestedSequenceNumbers,
  requestedSession,
} from "../../../../src/localnet/contracts/coordinator/completion/requested-session.ts";
import { createModelChain } from "./model-chain.ts";

it("a session's events name the session object, not the identifier that it was opened with", () => {
  const { addresses, objects, transact, call } = createModelChain();
  const paid = transact((state) => {
    const ids = [addresses.treasuryId, addresses.operatorCapIds[0]!, addresses.coordinatorId];
    const given = ids.map((id) => state.find(id));
    call(state, "pay_presigns", [...given, addresses.networkEncryptionKeyId, 0, 0, [new Uint8Array(32)]]);
  });
  const registered = paid.events.find(({ type }) => type.endsWith("::UserSessionIdentifierRegisteredEvent"));
  const identifier = SessionsManagerModule.UserSessionIdentifierRegisteredEvent.parse(registered!.contents);
  const [number] = requestedSequenceNumbers(objects, addresses);
  const session = requestedSession(objects, addresses, number!);
  const { session_object_id: id } = session!.fields;
  expect(id).not.toBe(identifier.session_object_id);
  const object = objects.get(id)!;
  expect(object.type).toBe(`${addresses.dwalletPackageId}::sessions_manager::DWalletSession`);
  const { session_identifier: used } = SessionsManagerModule.DWalletSession.parse(object.contents);
  expect(used.id).toBe(identifier.session_object_id);
});
