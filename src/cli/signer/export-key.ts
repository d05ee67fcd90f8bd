import { bytesToHex } from "@noble/hashes/utils.js";
import { loadSignerConfig } from "../../service/config/config.ts";
import { createFile } from "../../signer/store/durable-file.ts";
import type { CommandContext } from "../command-line/command.ts";
import { formatPairs } from "../output/format.ts";
import { refuseExisting } from "../output/write-new-file.ts";
import { findKey, type KeyValues } from "./find-key.ts";

/** `tss signer export`: writes a key's seed, in the form that `tss recover` reads. Shows only public facts of the key. */
export async function exportKey(values: ExportValues, context: CommandContext): Promise<void> {
  const { out } = values;
  const config = loadSignerConfig(context.environment);
  await refuseExisting(out);
  const { name, curve, seed, dwallet, isDerived } = await findKey(values, config, context);
  const content = Buffer.from(`${bytesToHex(seed)}\n`);
  try {
    await createFile(out, content);
  } finally {
    content.fill(0);
    seed.fill(0);
  }
  context.print(
    formatPairs([
      ["seed of", name],
      ["file", out],
      ["curve", curve],
      ["dWallet", dwallet?.dwalletId],
      ["session digest", dwallet?.sessionDigestHex],
    ]),
  );
  context.note(
    "Whoever has this file has the key: they can take its dWallet out of the service and sign, and nothing revokes that.\n" +
      "Keep it as you keep the store. `tss recover` and the SDK read it; keep the dWallet's id and the session digest with it.",
  );
  if (isDerived)
    context.note(
      "The seed was derived from the master seed, the curve, the name and the user, and nothing has checked these: a\n" +
        "wrong one gives the seed of no key. `tss recover` lists the dWallets of a seed.",
    );
  else if (dwallet === undefined)
    context.note(
      "The key is not active yet, so the store does not know its dWallet. CreateKey continues its onboarding.",
    );
}

/** The option values of `tss signer export`. */
interface ExportValues extends KeyValues {
  readonly out: string;
}
