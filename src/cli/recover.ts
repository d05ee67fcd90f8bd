import type { IkaConfig } from "@ika.xyz/sdk";
import type { IkaObjects } from "../client/sdk/chain/network.ts";
import type { Curve } from "../client/sdk/names.ts";
import { createRecovery, type Recovery } from "../client/sdk/recovery.ts";
import { loadTreasuryConfig } from "../service/config/config.ts";
import type { NetworkName } from "../service/config/network.ts";
import { describeLocalnet } from "../service/config/network-access.ts";
import { type CommandContext, EXIT, UsageError } from "./command.ts";
import { findLocalnet } from "./find-quick-start.ts";
import { formatTable } from "./format.ts";
import { readSeedFile } from "./treasury/key-files.ts";
import { refuseExisting, writeNewFile } from "./write-new-file.ts";

/** Lists the dWallets of a seed, or writes the share of one to a file. */
export async function recover(values: RecoverValues, context: CommandContext): Promise<number> {
  const share = shareValues(values);
  if (share !== undefined) await refuseExisting(share.out);
  const seed = readSeedFile(values.seedFile);
  try {
    const { recovery, network, treasuryId } = await openRecovery(values, context);
    if (share !== undefined) return await writeShare(recovery, seed, { ...values, ...share }, context);
    if (treasuryId === undefined) {
      const variable = `SERVICECORE_${network.toUpperCase()}_TREASURY_ID`;
      throw new UsageError(`no Treasury is configured for ${network}: set --treasury or ${variable}`);
    }
    return await listDWallets(recovery, seed, values, context);
  } finally {
    seed.fill(0);
  }
}

/** The option values of `tss recover`. */
interface RecoverValues {
  readonly seedFile: string;
  readonly network: NetworkName | undefined;
  readonly fullnodeUrl: string | undefined;
  readonly treasury: string | undefined;
  readonly curve: Curve | undefined;
  readonly dwallet: string | undefined;
  readonly out: string | undefined;
  /** In hex. */
  readonly sessionDigest: string | undefined;
  readonly json: boolean;
}

/** The values that recovering one share needs. */
interface ShareValues {
  readonly dwalletId: string;
  readonly curve: Curve;
  readonly out: string;
}

/** Returns undefined for a list. Throws a UsageError for a wrong combination of options. */
function shareValues({ dwallet, curve, out, sessionDigest }: RecoverValues): ShareValues | undefined {
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
  { curve, json }: RecoverValues,
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
  { dwalletId, curve, out, sessionDigest, json }: RecoverValues & ShareValues,
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

/** Returns a recovery on the network's chain, with the Treasury if one is known. It calls no service. */
async function openRecovery(
  values: RecoverValues,
  context: CommandContext,
): Promise<{ recovery: Recovery; network: NetworkName; treasuryId: string | undefined }> {
  const config = loadTreasuryConfig(values.network, context.environment);
  const { name: network } = config;
  const configured = values.fullnodeUrl ?? config.fullnodeUrl?.reveal();
  if (network !== "localnet") {
    const treasuryId = values.treasury ?? config.treasuryId;
    return {
      recovery: createRecovery({ network, treasuryId, fullnodeUrl: configured }),
      network,
      treasuryId,
    };
  }
  const fullnodeUrl = configured ?? (await findLocalnet(context));
  const local = await describeLocalnet(fullnodeUrl.replace(/^grpc/i, "http"));
  const treasuryId = values.treasury ?? local.treasury.treasuryId;
  const ika = objectsOf(local.ikaConfig);
  return { recovery: createRecovery({ network, treasuryId, fullnodeUrl, ika }), network, treasuryId };
}

function objectsOf({ packages, objects }: IkaConfig): IkaObjects {
  return {
    ikaDwallet2pcMpcOriginalPackage: packages.ikaDwallet2pcMpcOriginalPackage,
    ikaDwalletCoordinator: { objectId: objects.ikaDWalletCoordinator.objectID },
  };
}

/** A Treasury of a million dWallets has 2,000 pages. */
const SEARCH_TIMEOUT_MS = 1_800_000;
