import { DWalletNetworkEncryptionKey } from "../../../src/protocol/chain/chain-structs.ts";

/** The contents of a network encryption key on the chain, without outputs. */
export function encodeNetworkKey({
  id,
  epoch,
  isMade = true,
}: {
  readonly id: string;
  readonly epoch: number;
  /** Whether its DKG is complete. Default true. */
  readonly isMade?: boolean;
}): Uint8Array {
  const table = { id: `0x${"0".repeat(64)}`, size: "0" };
  return DWalletNetworkEncryptionKey.serialize({
    id,
    dkg_at_epoch: epoch,
    network_dkg_public_output: table,
    reconfiguration_public_outputs: table,
    dkg_params_for_network: [],
    supported_curves: [],
    state: isMade ? { NetworkDKGCompleted: true } : { AwaitingNetworkDKG: true },
  }).toBytes();
}
