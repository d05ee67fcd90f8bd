import { UsageError } from "../../command-line/command.ts";
import { count, nonEmptyText, objectId, operand, optional, required } from "../../command-line/option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";
import { findConsent } from "../../treasury/find-consent.ts";
import type { PlannedChange } from "../../treasury/run-treasury-change.ts";

export const announceReleaseCommand = changeCommand({
  summary: "announce that a dWallet's capability goes to an address after 14 epochs",
  options: {
    dwallet: operand("<dwallet-id>", "the dWallet", objectId),
    to: required("<address>", "the recipient of the capability", fullAddress),
  },
  plan: ({ dwallet, to: recipient }) =>
    oneCall(
      "announce_release",
      { dwallet, recipient },
      "After 14 epochs, and for 14 more, `tss treasury release` sends it, unless its owner forbids it. Monitors see the announcement.",
    ),
});

export const withdrawReleaseCommand = changeCommand({
  summary: "withdraw the announced release of a dWallet's capability",
  options: { dwallet: operand("<dwallet-id>", "the dWallet", objectId) },
  plan: ({ dwallet }) => oneCall("withdraw_release", { dwallet }),
});

export const releaseCommand = changeCommand({
  summary: "send a dWallet's capability to the announced recipient, or a presign's to an address",
  options: {
    dwallet: optional("<id>", "the dWallet, announced 14 to 27 epochs ago", objectId),
    presign: optional("<id>", "a presign, such as one that the network has rejected", objectId),
    to: optional("<address>", "with --presign: who receives the capability", fullAddress),
  },
  plan({ dwallet, presign, to: recipient }) {
    if ((dwallet === undefined) === (presign === undefined))
      throw new UsageError("either --dwallet or --presign is needed");
    if (dwallet !== undefined) {
      if (recipient !== undefined)
        throw new UsageError("--dwallet takes no --to: the recipient is announced");
      return oneCall("release_dwallet", { dwallet });
    }
    if (recipient === undefined) throw new UsageError("--to is missing");
    return oneCall("release_presign", { presign: presign ?? "", recipient });
  },
});

const AUTHORIZATION = optional(
  "<file>",
  "the result of the client's `signLeave` or `signRefusal`, as JSON",
  nonEmptyText,
);
const SIGNING_OPTIONS = {
  seedFile: optional(
    "<file>",
    "sign here instead: the user's seed as 64 hex digits, mode 0600",
    nonEmptyText,
  ),
  dwallet: optional("<id>", "with --seed-file: the dWallet", objectId),
  validFor: optional(
    "<epochs>",
    "with --seed-file: how long the authorization is valid; default 7",
    count(0, 1_000),
  ),
};
const DETAILS =
  "Needs neither a service nor a project key: the owner's signature suffices, and the sender pays for the gas.";

export const exitCommand = changeCommand({
  summary: "take a user's dWallet out of the Treasury, with the user's authorization or seed",
  details: DETAILS,
  options: {
    authorization: AUTHORIZATION,
    ...SIGNING_OPTIONS,
    recipient: optional("<address>", "with --seed-file: who receives the capability", fullAddress),
  },
  async plan(values, treasury): Promise<PlannedChange> {
    const {
      action: _,
      treasuryId: __,
      dwalletId: dwallet,
      recipient = "",
      ...signed
    } = await findConsent(treasury, "leave", values);
    return {
      caller: "anyone",
      add: (call) => call("leave", { dwallet, recipient, ...signed }),
      next: () => [
        `${recipient} now has the dWallet's capability, and can sign with Ika without this service.`,
      ],
    };
  },
});

export const refuseCommand = changeCommand({
  summary: "forbid permanently, for a user, that the administrator releases the user's dWallet",
  details: DETAILS,
  options: { authorization: AUTHORIZATION, ...SIGNING_OPTIONS },
  async plan(values, treasury): Promise<PlannedChange> {
    const given = { ...values, recipient: undefined };
    const {
      action: _,
      treasuryId: __,
      dwalletId: dwallet,
      ...signed
    } = await findConsent(treasury, "refuse", given);
    return {
      caller: "anyone",
      add: (call) => call("refuse_release", { dwallet, ...signed }),
      next: () => ["Now only the owner can take the dWallet out."],
    };
  },
});
