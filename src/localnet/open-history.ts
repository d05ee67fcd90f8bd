import { normalizeSuiAddress } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { NetworkAddresses } from "./contracts/addresses.ts";
import { FIRST_EPOCH } from "./contracts/coordinator/coordinator-genesis.ts";
import type { NetworkKeyOutputs } from "./contracts/genesis-object.ts";
import { durableHistory, type History, volatileHistory } from "./durable-ledger.ts";
import { blake2b256 } from "./fullnode/bytes.ts";
import { genesisCommit } from "./genesis.ts";
import type { LocalChainOptions } from "./local-chain.ts";
import type { NetworkMpc } from "./mpc/engine.ts";
import type { WriteLog } from "./network.ts";

/** Opens the network's history from its data folder, or creates a genesis. */
export async function openHistory(
  options: LocalChainOptions,
  parts: LedgerParts,
  stops: (() => Promise<void>)[],
): Promise<History> {
  const { seed, log, operatorCount, addresses, hotWalletAddress, mpc, clock } = parts;
  const genesis = async () =>
    genesisCommit({
      seed,
      addresses,
      hotWalletAddress,
      accounts: (options.accounts ?? []).map((address) => normalizeSuiAddress(address)),
      networkKeyOutputs: await firstOutputs(mpc, options, FIRST_EPOCH),
      timestampMs: BigInt(clock()),
    });
  const identity = {
    seedDigest: blake2b256(utf8ToBytes("ika-localnet/identity/"), seed),
    hotWalletAddress,
    operatorCount,
    epochDurationMs: epochDurationOf(options),
  };
  const history =
    options.dataDirectory === undefined
      ? await volatileHistory(genesis)
      : await durableHistory(options.dataDirectory, identity, genesis, log);
  stops.push(() => history.close());
  return history;
}

const DEFAULT_EPOCH_DURATION_MS = 24 * 60 * 60 * 1000;

export interface LedgerParts {
  readonly seed: Uint8Array;
  readonly log: WriteLog;
  readonly operatorCount: number;
  readonly addresses: NetworkAddresses;
  readonly hotWalletAddress: string;
  readonly mpc: NetworkMpc;
  readonly clock: () => number;
}

/**
 * Returns the outputs of a new key in this epoch. With a DKG output of version 1, there is also a reconfiguration
 * output.
 */
export async function firstOutputs(
  mpc: NetworkMpc,
  { hasVersion1Dkg = false }: Pick<LocalChainOptions, "hasVersion1Dkg">,
  epoch: bigint,
): Promise<NetworkKeyOutputs> {
  const dkg = await mpc.networkDkgPublicOutput();
  if (!hasVersion1Dkg) return { dkg };
  const { version1Output } = await import("./mpc/reconfiguration-output.ts");
  return {
    dkg: version1Output(dkg),
    reconfiguration: await mpc.networkReconfigurationPublicOutput(epoch),
  };
}

/** Returns the length of a Sui epoch in milliseconds. */
export function epochDurationOf(options: LocalChainOptions): bigint {
  return BigInt(options.epochDurationMs ?? DEFAULT_EPOCH_DURATION_MS);
}
