import type { ChainNetwork } from "../chain/network.ts";
import type { OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Config } from "../config.ts";
import type { Signals } from "../coordination/signals.ts";
import { createAcceptOperation } from "../onboarding/accept-operation.ts";
import { createDkgOperation } from "../onboarding/dkg-operation.ts";
import { createRegisterOperation } from "../onboarding/register-operation.ts";
import { createPresignOperation } from "../presigns/presign-operation.ts";
import { createSignOperation } from "../signing/sign-operation.ts";

/** What the kinds work with. */
export interface OperationKindsOptions {
  readonly network: Pick<ChainNetwork, "senderAddress">;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly config: Pick<Config, "submitBatchCount" | "presignBatchCount">;
}

/** Every kind of operation that the features want done on the chain. */
export function operationKinds({ network, reader, signals, config }: OperationKindsOptions): OperationKind[] {
  const { senderAddress } = network;
  const { submitBatchCount, presignBatchCount } = config;
  return [
    createSignOperation({ signals, reader, senderAddress, batchCount: submitBatchCount }),
    createRegisterOperation(reader),
    createDkgOperation(reader, senderAddress),
    createAcceptOperation(reader),
    createPresignOperation({ reader, senderAddress, batchCount: presignBatchCount }),
  ] as OperationKind[];
}
