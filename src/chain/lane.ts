import { buildTransaction, type SignedTransaction } from "./build-transaction.ts";
import type { ChainCalls } from "./calls.ts";
import type { ChainNetwork } from "./network.ts";
import type { StoredTransaction } from "./outbox.ts";
import type { NetworkReader } from "./reader.ts";
import { type SendResult, sendTransaction } from "./send-transaction.ts";

/** One way to the chain: an OperatorCap, whose transactions go one after another. */
export interface Lane {
  readonly network: string;
  /** Address of the hot wallet. */
  readonly sender: string;
  /** Object id of the OperatorCap. */
  readonly id: string;
  /** Builds and signs a block; throws DryRunRefused when the chain would refuse it. */
  build(addCalls: (calls: ChainCalls) => void): Promise<SignedTransaction>;
  /** Sends stored bytes, any number of times; throws while their outcome is not known. */
  send(stored: StoredTransaction): Promise<SendResult>;
}

/** The lane of the network's first OperatorCap. */
export function createLane(network: ChainNetwork, reader: NetworkReader): Lane {
  const [id] = network.treasury.operatorCapIds;
  if (id === undefined) throw new Error(`${network.name} has no OperatorCap to submit with`);
  return {
    network: network.name,
    sender: network.senderAddress,
    id,
    build: (addCalls) => buildTransaction(network, reader, id, addCalls),
    send: (stored) => sendTransaction(network, reader, stored),
  };
}
