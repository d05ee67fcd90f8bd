import type { Curve } from "../client/sdk/names.ts";
import type { Recovery } from "../client/sdk/recovery.ts";
import { type CommandContext, EXIT, UsageError } from "./command-line/command.ts";
import { noTreasury, openRecovery } from "./open-recovery.ts";
import { formatTable } from "./output/format.ts";
import { refuseExisting, writeNewFile } from "./output/write-new-file.ts";
import { type PieceValues, recoverFromPieces } from "./recover-from-pieces.ts";
import { readSeedFile } from "./treasury/key-files.ts";

/** Lists the dWallets of a seed, or writes the share of one to a file. With pieces, it recovers what they are for. */
export async function recover(values: PieceValues, context: CommandContext): Promise<number> {
  const { seedFile, pieceFile, askPieces } = values;
  if (pieceFile !== undefined || askPieces) return await recoverFromPieces(values, context);
  if (seedFile === undefined)
    throw new UsageError("--seed-file is missing; or give the pieces with --piece-file or --ask-pieces");
  if (values.seedOut !== undefined) throw new UsageError("--seed-out needs --piece-file or --ask-pieces");
  const share = shareValues(values);
  if (share !== undefined) await refuseExisting(share.out);
  const seed = readSeedFile(seedFile);
  try {
    const { recovery, network, treasuryId } = await openRecovery(values, context);
    if (share !== undefined) return await writeShare(recovery, seed, { ...values, ...share }, context);
    if (treasuryId === undefined) throw noTreasury(network);
    return await listDWallets(recovery, seed, values, context);
  } finally {
    seed.fill(0);
  }
}

/** The values that recovering one share needs. */
interface ShareValues {
  readonly dwalletId: string;
  readonly curve: Curve;
  readonly out: string;
}

/** Returns undefined for a list. Throws a UsageError for a wrong combination of options. */
function shareValues({ dwallet, curve, out, sessionDigest }: PieceValues): ShareValues | undefined {
  if (dwallet === undefined) {
    if (out !== undefined) throw new UsageError("--out needs --dwallet");
    if (sessionDigest !== undefined) throw new UsageError("--session-digest needs --dwallet");
    return undefined;
  }
  if (curve === undefined) throw new UsageError("--dwallet needs --curve: the list shows it");
  if (out === undefined) throw new UsageError("--dwallet needs --out, a new file for the share");
  return { dwalletId: dwallet, curve, out };
}

async function listDWallets(
  recovery: Recovery,
  seed: Uint8Array,
  { curve, json }: PieceValues,
  { print, note }: CommandContext,
): Promise<number> {
  const { dwallets, isComplete } = await recovery.findDWallets({ seed, curve, timeoutMs: SEARCH_TIMEOUT_MS });
  if (json) print(JSON.stringify({ dwallets, isComplete }, undefined, 2));
  else if (dwallets.length === 0) print("The Treasury holds no dWallet of this seed.");
  else
    print(
      formatTable(
        [
          { title: "DWALLET", of: ({ dwalletId }) => dwalletId },
          { title: "CURVE", of: (found) => found.curve },
          { title: "STATE", of: ({ state }) => state },
        ],
        dwallets,
      ),
    );
  if (!isComplete) note("The search ended at its limit: the Treasury may hold more dWallets of this seed.");
  return EXIT.done;
}

async function writeShare(
  recovery: Recovery,
  seed: Uint8Array,
  { dwalletId, curve, out, sessionDigest, json }: PieceValues & ShareValues,
  { print }: CommandContext,
): Promise<number> {
  const args = { seed, dwalletId, curve, sessionDigestHex: sessionDigest };
  const { userSecretKeyShareHex, ...found } = await recovery.recoverShare(args);
  await writeNewFile(out, Buffer.from(`${userSecretKeyShareHex}\n`));
  print(
    json
      ? JSON.stringify({ dwalletId, curve, ...found, file: out }, undefined, 2)
      : `The share of ${dwalletId} is in ${out}. Protect it like the seed.`,
  );
  return EXIT.done;
}

/** A Treasury of a million dWallets has 2,000 pages. */
const SEARCH_TIMEOUT_MS = 1_800_000;
