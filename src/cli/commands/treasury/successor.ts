import { bcs } from "@mysten/sui/bcs";
import { CURVES, curveNumber } from "../../../protocol/algorithms.ts";
import { TreasuryDWallet } from "../../../protocol/chain/treasury-custody.ts";
import { listFields, readTreasuryObject } from "../../../service/chain/treasury/read-treasury-object.ts";
import { UsageError } from "../../command-line/command.ts";
import { choiceOf, flag, objectId, operand, optional, WrongValue } from "../../command-line/option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";
import type { OpenTreasury } from "../../treasury/open-treasury.ts";
import { findSent, readSent } from "../../treasury/sent-capabilities.ts";

/**
 * The maximum number of dWallets, and of presigns, in one transaction: close to the chain's limit on dynamic fields.
 */
const MAX_MOVED = 100;
const MAX_LISTED = 1_000_000;

export const announceSuccessorCommand = changeCommand({
  summary: "announce that the capabilities go to another Treasury after 14 epochs",
  options: { successor: operand("<treasury-id>", "the other Treasury", objectId) },
  async plan({ successor }, { client, treasury }) {
    if (successor === treasury.id) throw new UsageError("a Treasury cannot succeed itself");
    // Throws unless it is a Treasury, because capabilities sent to anything else are lost.
    await readTreasuryObject(client, successor);
    return oneCall(
      "announce_successor",
      { successor },
      "After 14 epochs, and for 14 more, `tss treasury move` sends the capabilities there. Until then users can leave, or forbid it.",
    );
  },
});

export const withdrawSuccessorCommand = changeCommand({
  summary: "withdraw the announced successor",
  options: {},
  plan: () => oneCall("withdraw_successor", {}),
});

export const moveCommand = changeCommand({
  summary: "send capabilities of dWallets and presigns to the announced successor",
  details: `One transaction moves up to ${MAX_MOVED} dWallets and ${MAX_MOVED} presigns. Run it again until nothing is left.`,
  options: {
    dwallets: optional("<ids>", "these dWallets, separated by commas", objectIds),
    presigns: optional("<ids>", "these presigns, separated by commas", objectIds),
    all: flag("the next batch of all, except dWallets whose owners forbid it"),
  },
  async plan({ dwallets, presigns, all }, treasury, { print }) {
    if (all === (dwallets !== undefined || presigns !== undefined))
      throw new UsageError("either --all, or --dwallets or --presigns, is needed");
    const left = all ? await listMovable(treasury) : { dwallets: dwallets ?? [], presigns: presigns ?? [] };
    const now = {
      dwallets: left.dwallets.slice(0, MAX_MOVED),
      presigns: left.presigns.slice(0, MAX_MOVED),
    };
    if (now.dwallets.length + now.presigns.length === 0) throw new Error("nothing is left to move");
    print(
      `${now.dwallets.length} of ${left.dwallets.length} dWallets and ${now.presigns.length} of ${left.presigns.length} presigns\n`,
    );
    return {
      caller: "admin",
      add(call) {
        if (now.dwallets.length > 0) call("move_dwallets", { dwallets: now.dwallets });
        if (now.presigns.length > 0) call("move_presigns", { presigns: now.presigns });
      },
      next: () => ["The administrator of the successor takes them in with `tss treasury take-in`."],
    };
  },
});

async function listMovable({ client, treasury }: OpenTreasury) {
  const dwallets = await listFields(client, treasury.dwalletsId, MAX_LISTED);
  const presigns = await listFields(client, treasury.presignCapsId, MAX_LISTED);
  return {
    dwallets: dwallets
      .filter(({ value }) => !TreasuryDWallet.parse(value).is_refused)
      .map(({ name }) => bcs.Address.parse(name)),
    presigns: presigns.map(({ name }) => bcs.Address.parse(name)),
  };
}

function objectIds(text: string): string[] {
  const ids = text.split(",").map((id) => objectId(id.trim()));
  if (new Set(ids).size < ids.length) throw new WrongValue("takes each id once");
  if (ids.length > MAX_MOVED) throw new WrongValue(`takes at most ${MAX_MOVED} ids`);
  return ids;
}

export const takeInCommand = changeCommand({
  summary: "claim capabilities that another Treasury has sent to this one",
  details:
    "With --from, the curve and the owner of each dWallet come from the events of that Treasury.\n" +
    "With --capability, you specify them: both are public, in the events of the Treasury that held the dWallet before.",
  options: {
    from: optional("<treasury-id>", "take in the next batch that this Treasury has moved here", objectId),
    capability: optional("<id>", "take in this one capability", objectId),
    curve: optional("<curve>", "with --capability of a dWallet: its curve", choiceOf(CURVES)),
    owner: optional("<address>", "with --capability of a dWallet: the user's address", fullAddress),
  },
  async plan({ from, capability, curve, owner }, treasury, { print }) {
    if ((from === undefined) === (capability === undefined))
      throw new UsageError("either --from or --capability is needed");
    const terms = curve && owner ? { curve: curveNumber(curve), owner } : undefined;
    const sent =
      capability === undefined
        ? await findSent(treasury, from ?? "")
        : [await readSent(treasury, capability, terms)];
    if (sent.length === 0) throw new Error("no capability that was sent to this Treasury is left to take in");
    print(`${sent.length} capabilities\n`);
    return {
      caller: "admin",
      add(call) {
        for (const { ref, dwallet, isImportedKey } of sent)
          if (dwallet === undefined) call("take_in_presign", { capability: ref });
          else
            call(isImportedKey ? "take_in_imported_key" : "take_in_dwallet", { capability: ref, ...dwallet });
      },
    };
  },
});

export const migrateTreasuryCommand = changeCommand({
  summary: "move the Treasury to the newest version of its package, after an upgrade",
  details: "--package is the id of the new version. Afterwards every call of the previous version aborts.",
  options: {},
  plan: (_values, { name, packageId }) =>
    oneCall(
      "migrate",
      {},
      `Set SERVICECORE_${name.toUpperCase()}_PACKAGE_ID=${packageId} and restart the service.`,
    ),
});
