import { type Client, createClient as createServiceClient, type Transport } from "@connectrpc/connect";
import { Billing } from "../../gen/proto/tss/v1/billing_pb.ts";
import { type GetNetworkResponse, Onboarding } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import type { CryptoEngine } from "../crypto/engine.ts";
import type { CurveName } from "../protocol/algorithms.ts";
import type { ChainDWallet } from "../protocol/chain-objects.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";
import type { Action } from "./action.ts";
import type { ChainSessionSource } from "./chain-session.ts";
import type { MadeHalves } from "./made-halves.ts";
import type { Network } from "./names.ts";
import type { ObjectKind } from "./object-kinds.ts";

/** The generated clients, for calls that no action covers. They throw ConnectError. */
export interface RawClients {
  readonly onboarding: Client<typeof Onboarding>;
  readonly signing: Client<typeof Signing>;
  readonly billing: Client<typeof Billing>;
}

/** Which parameters an action needs. */
export interface ParametersRequest {
  readonly curve: CurveName;
  readonly networkEncryptionKeyId: string;
}

/** Where protocol parameters come from. */
export interface ParametersSource {
  /** The parameters of a curve under a network encryption key: 2.4 MB, and up to 2 s the first time. */
  load(action: Action, request: ParametersRequest): Promise<Uint8Array>;
}

/** What the actions of one client share. */
export interface ClientContext {
  readonly network: Network;
  readonly raw: RawClients;
  readonly engine: CryptoEngine;
  readonly parameters: ParametersSource;
  /** Reads GetNetwork afresh and checks that it is the network that the client was made for. */
  getNetwork(action: Action): Promise<GetNetworkResponse>;
  /** Reads objects of one kind from the chain, never through the service. */
  chainReader(action: Action, kind: ObjectKind): Promise<ChainReader>;
  /** Looks for the digest of a DKG's session identifier on the chain. */
  readonly chainSession: ChainSessionSource;
  /** The user's halves that this client made, so that it never makes two for one presign. */
  readonly madeHalves: MadeHalves;
  /** Active dWallets that were read before. What they hold never changes. */
  readonly activeDWallets: Map<string, ChainDWallet>;
}

/** The generated clients over one transport. */
export function createRawClients(transport: Transport): RawClients {
  return {
    onboarding: createServiceClient(Onboarding, transport),
    signing: createServiceClient(Signing, transport),
    billing: createServiceClient(Billing, transport),
  };
}
