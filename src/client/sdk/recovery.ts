import type { CryptoEngine } from "../crypto/engine.ts";
import { deferredParts } from "./actions/load-flows.ts";
import { readKey } from "./actions/read-key.ts";
import { findDWallets } from "./actions/recovery/find-dwallets.ts";
import { recoverShare } from "./actions/recovery/recover-share.ts";
import { chooseChain } from "./chain/choose-chain.ts";
import type { IkaObjects } from "./chain/network.ts";
import { invalid } from "./checks.ts";
import { chooseEngine } from "./choose-engine.ts";
import type { TssClient } from "./client.ts";
import type { ClientContext } from "./context.ts";
import { createCustodyActions } from "./custody/custody-actions.ts";
import { TssError } from "./errors.ts";
import type { Network } from "./names.ts";

/**
 * Creates a recovery: it finds the dWallets of a seed, recovers their shares and reads their keys from the chain alone.
 * It has no service and no API key, and it calls nothing but the fullnodes. It sends nothing before the first action.
 *
 * @throws {TssError} VALIDATION when an option is malformed, or a localnet lacks `fullnodeUrl` or `ika`.
 *
 * @example
 * const recovery = createRecovery({ network: "testnet", treasuryId });
 * const { dwallets } = await recovery.findDWallets({ seed });
 * for (const { dwalletId, curve } of dwallets) await recovery.recoverShare({ seed, dwalletId, curve });
 */
export function createRecovery(options: RecoveryOptions): Recovery {
  const context = createContext(options);
  const { rehearseLeave } = createCustodyActions(context);
  return {
    async findDWallets(args, actionOptions) {
      if (options.treasuryId === undefined) throw invalid("treasuryId", "the search needs the Treasury's id");
      return await findDWallets(context, args, actionOptions);
    },
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    readKey: (args, actionOptions) => readKey(context, args, actionOptions),
    async rehearseLeave(args, actionOptions) {
      if (options.treasuryId === undefined)
        throw invalid("treasuryId", "the rehearsal needs the Treasury's id");
      return await rehearseLeave(args, actionOptions);
    },
  };
}

/**
 * The actions that need only the seed and the chain. They are those of the client, with its errors. `findDWallets` and
 * `rehearseLeave` also throw VALIDATION if the recovery has no `treasuryId`.
 */
export type Recovery = Pick<TssClient, "findDWallets" | "recoverShare" | "readKey" | "rehearseLeave">;

/** Options of {@link createRecovery}. */
export interface RecoveryOptions {
  readonly network: Network;
  /**
   * The fullnode to read the chain from, or up to eight, which must all answer and agree. Default on testnet and
   * mainnet: Sui's public fullnode. A localnet has no default.
   */
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  /** The ids of Ika. The recovery knows those of testnet and mainnet. A localnet has no default. */
  readonly ika?: IkaObjects | undefined;
  /** The digest of the chain's genesis checkpoint, in Base58. Known for testnet and mainnet; else any digest. */
  readonly chainIdentifier?: string | undefined;
  /** The object id of the Treasury that keeps the dWallets' capabilities. `findDWallets` and `rehearseLeave` need it. */
  readonly treasuryId?: string | undefined;
  /** The engine that computes keys and shares, which the caller closes. Default: TypeScript on the caller's thread. */
  readonly engine?: CryptoEngine | undefined;
}

function createContext(options: RecoveryOptions): ClientContext {
  const { network } = options;
  const chosen = chooseChain(options);
  if (chosen.fullnodeUrls === undefined) throw invalid("fullnodeUrl", `${network} has no public fullnode`);
  if (chosen.ika === undefined) throw invalid("ika", `the ids of Ika on ${network} are not known`);
  const engine = chooseEngine(options.engine);
  return {
    network,
    // Only calls of the service use the clients, and a recovery makes none.
    get raw(): never {
      throw noService();
    },
    call: async () => {
      throw noService();
    },
    engine,
    getNetwork: async () => {
      throw noService();
    },
    ...deferredParts({ chosen, source: NO_SOURCE, engine }),
    activeDWallets: new Map(),
  };
}

function noService(): TssError {
  return new TssError("UNREACHABLE", "a recovery has no service");
}

const NO_SOURCE = {
  read: async () => {
    throw noService();
  },
  known: async () => {
    throw noService();
  },
};
