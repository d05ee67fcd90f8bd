import type { ChainNetwork } from "../fullnodes/network.ts";
import type { NetworkReader } from "../reader.ts";
import {
  type BlockContent,
  buildTransaction,
  type SignedTransaction,
  type Trial,
} from "./build-transaction.ts";
import type { LaneObjects } from "./lane-table.ts";
import type { StoredTransaction } from "./outbox.ts";
import { type SendResult, sendTransaction } from "./send-transaction.ts";

/** An OperatorCap with its own gas coins. It sends one transaction after another. */
export interface Lane {
  readonly network: string;
  /** Address of the hot wallet. */
  readonly sender: string;
  /** Object id of the OperatorCap. */
  readonly id: string;
  /** Builds and signs a block. Throws DryRunRefused if a dry run refuses it. */
  build(objects: LaneObjects, block: BlockContent, trial: Trial): Promise<SignedTransaction>;
  /** Sends stored bytes, any number of times. Throws while their outcome is unknown. */
  send(stored: StoredTransaction): Promise<SendResult>;
}

/** Creates one lane for each OperatorCap of the network. */
export function createLanes(network: ChainNetwork, reader: NetworkReader): Lane[] {
  return network.treasury.operatorCapIds.map((id) => ({
    network: network.name,
    sender: network.senderAddress,
    id,
    build: (...block) => buildTransaction(network, reader, ...block),
    send: (stored) => sendTransaction(network, reader, stored),
  }));
}
