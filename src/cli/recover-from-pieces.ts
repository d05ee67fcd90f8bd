import { bytesToHex } from "@noble/hashes/utils.js";
import { TssError } from "../client/sdk/errors.ts";
import type { Curve } from "../client/sdk/names.ts";
import { joinPieces, readPiece } from "../client/seed/pieces/index.ts";
import { askSecret } from "./ask-secret.ts";
import { type CommandContext, EXIT, UsageError } from "./command-line/command.ts";
import { openRecovery, type RecoveryValues } from "./open-recovery.ts";
import { refuseExisting, writeNewFile } from "./output/write-new-file.ts";
import { readPrivateFile } from "./treasury/key-files.ts";

/**
 * Joins the pieces of a recovery, and proves on the chain that their seed has the share of the dWallet that they name,
 * or of the one that `--dwallet` names. It
 * writes the share and the seed only to files that are asked for, and prints neither.
 */
export async function recoverFromPieces(values: PieceValues, context: CommandContext): Promise<number> {
  const { out, seedOut } = values;
  refuseOthers(values);
  for (const file of [out, seedOut]) if (file !== undefined) await refuseExisting(file);
  const joined = await joinPieces(await readPieces(values, context), { dwalletId: values.dwallet });
  const { seed, dwalletId, curve, holderAddress, rejected } = joined;
  for (const { message } of rejected) context.note(`${message}. The other pieces suffice.`);
  try {
    const { recovery } = await openRecovery(values, context);
    const source = { seed, dwalletId, curve, acceptUnverifiedShare: true };
    const { userSecretKeyShareHex, ...found } = await recovery.recoverShare(source);
    if (out !== undefined) await writeNewFile(out, Buffer.from(`${userSecretKeyShareHex}\n`));
    if (seedOut !== undefined) await writeNewFile(seedOut, Buffer.from(`${bytesToHex(seed)}\n`));
    const files = { file: out, seedFile: seedOut };
    const recovered = { dwalletId, curve, holderAddress, rejected, ...found, ...files };
    context.print(values.json ? JSON.stringify(recovered, undefined, 2) : describe(recovered));
    return EXIT.done;
  } finally {
    seed.fill(0);
  }
}

/** The option values of `tss recover`. */
export interface PieceValues extends RecoveryValues {
  readonly seedFile: string | undefined;
  readonly pieceFile: readonly string[] | undefined;
  readonly askPieces: boolean;
  readonly curve: Curve | undefined;
  /** The dWallet that the pieces must be for. */
  readonly dwallet: string | undefined;
  readonly out: string | undefined;
  readonly seedOut: string | undefined;
  /** In hex. */
  readonly sessionDigest: string | undefined;
  readonly json: boolean;
}

function refuseOthers({ seedFile, curve, sessionDigest, ...values }: PieceValues): void {
  if (seedFile !== undefined)
    throw new UsageError("--seed-file excludes --piece-file and --ask-pieces: the pieces give the seed");
  if (values.pieceFile !== undefined && values.askPieces)
    throw new UsageError("--piece-file and --ask-pieces exclude each other");
  for (const [option, value] of Object.entries({ curve, "session-digest": sessionDigest }))
    if (value !== undefined)
      throw new UsageError(`--${option} is of no use with pieces, which name their dWallet`);
}

async function readPieces({ pieceFile }: PieceValues, context: CommandContext): Promise<string[]> {
  return pieceFile?.map((file) => readPrivateFile(file).trim()) ?? (await askForPieces(context));
}

/** Asks for as many pieces as the first one says. A mistyped piece is asked for again, a few times. */
async function askForPieces(context: CommandContext): Promise<string[]> {
  const pieces: string[] = [];
  let [needed, mistakes] = [1, 0];
  while (pieces.length < needed) {
    const number = pieces.length + 1;
    const question =
      number === 1 ? "The first piece: " : `Piece ${number} of the ${needed} that are needed: `;
    const typed = await askSecret(context, question, ASKED);
    try {
      needed = readPiece(typed).threshold;
      pieces.push(typed);
    } catch (error) {
      if (!(error instanceof TssError) || ++mistakes === MISTAKES_MAX_COUNT) throw error;
      context.note(error.message);
    }
  }
  return pieces;
}

const ASKED = { what: "the pieces", instead: "give their files with --piece-file" };
const MISTAKES_MAX_COUNT = 5;

function describe({ dwalletId, curve, holderAddress, file, seedFile }: Recovered): string {
  return [
    `The pieces give the share of ${dwalletId} (${curve}), and the chain confirms it.`,
    `The recovery's key has the address ${holderAddress}.`,
    ...(file === undefined ? [] : [`The share is in ${file}. Protect it like a seed.`]),
    ...(seedFile === undefined
      ? []
      : [`The recovery's seed is in ${seedFile}. It signs like its pieces together.`]),
    ...(file === undefined && seedFile === undefined ? ["Nothing was written."] : []),
  ].join("\n");
}

interface Recovered {
  readonly dwalletId: string;
  readonly curve: Curve;
  readonly holderAddress: string;
  readonly file: string | undefined;
  readonly seedFile: string | undefined;
}
