import { optional } from "../../option.ts";
import { count, nonEmptyText, objectId } from "../../option-values.ts";
import { changeCommand, type PlannedChange } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";
import { findConsent } from "../../treasury/find-consent.ts";

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
