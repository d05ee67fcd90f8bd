import { type Client, createClient as createServiceClient, type Transport } from "@connectrpc/connect";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { Account } from "../../../gen/client/tss/v1/account_pb.ts";
import { Billing } from "../../../gen/client/tss/v1/billing_pb.ts";
import { type GetNetworkResponse, Onboarding } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { Sharing } from "../../../gen/client/tss/v1/sharing_pb.ts";
import { Signing } from "../../../gen/client/tss/v1/signing_pb.ts";
import { Users } from "../../../gen/client/tss/v1/users_pb.ts";
import type { CurveName } from "../../protocol/algorithms.ts";
import type { ChainDWallet } from "../../protocol/chain/chain-objects.ts";
import type { ChainReader } from "../../protocol/chain/chain-reader.ts";
import type { CryptoEngine } from "../crypto/engine.ts";
import type { Action } from "./action.ts";
import type { MadeHalves } from "./actions/signing/made-halves.ts";
import type { ServiceCaller } from "./calls/service-calls.ts";
import type { ChainSessionSource, LastChange } from "./chain/chain-session.ts";
import type { ChainPosition, TableEntry } from "./chain/fullnode.ts";
import type { TableRequest } from "./chain/list-table.ts";
import type { ObjectKind } from "./chain/object-kinds.ts";
import type { Network } from "./names.ts";

/** Creates the generated clients over one transport. */
export function createRawClients(transport: Transport): RawClients {
  return {
    onboarding: createServiceClient(Onboarding, transport),
    sharing: createServiceClient(Sharing, transport),
    signing: createServiceClient(Signing, transport),
    billing: createServiceClient(Billing, transport),
    account: createServiceClient(Account, transport),
    users: createServiceClient(Users, transport),
  };
}

/** The generated clients, for calls that no action covers. They throw a ConnectError. */
export interface RawClients {
  readonly onboarding: Client<typeof Onboarding>;
  readonly sharing: Client<typeof Sharing>;
  readonly signing: Client<typeof Signing>;
  readonly billing: Client<typeof Billing>;
  readonly account: Client<typeof Account>;
  readonly users: Client<typeof Users>;
}

export interface ParametersRequest {
  readonly curve: CurveName;
  readonly networkEncryptionKeyId: string;
}

/** A source of protocol parameters. */
export interface ParametersSource {
  /** Loads the parameters of a curve under a network encryption key: 2.4 MB, up to 2 s the first time. */
  load(action: Action, request: ParametersRequest): Promise<Uint8Array>;
}

/** The access of actions to the chain. */
export interface ChainAccess {
  readonly parameters: ParametersSource;
  /** Reads objects of one kind from the chain, never through the service. */
  chainReader(action: Action, kind: ObjectKind): Promise<ChainReader>;
  /** Returns the address or the object that owns an object; undefined if none does. */
  ownerOf(action: Action, kind: ObjectKind, objectId: string): Promise<string | undefined>;
  /** Returns the chain's identifier and its current epoch. */
  chainPosition(action: Action): Promise<ChainPosition>;
  /**
   * Yields the entries of a table as the fullnodes list them, an entry perhaps more than once. They are hints that the
   * caller checks. Throws CHAIN_UNAVAILABLE.
   */
  tableEntries(action: Action, request: TableRequest): AsyncIterable<TableEntry>;
  /** Returns the last transaction that wrote an object, as one fullnode says; undefined if it does not know it. */
  lastChange(action: Action, objectId: string): Promise<LastChange | undefined>;
  /** Returns the Sui client of each fullnode, for hints that the caller checks. */
  fullnodeClients(action: Action): Promise<readonly ClientWithCoreApi[]>;
  /** Returns the id of the Treasury that keeps the dWallets' capabilities. */
  treasuryId(action: Action): Promise<string>;
  /** Searches the chain for the digest of a DKG's session identifier. */
  readonly chainSessions: ChainSessionSource;
}

/** The parts of a context that the first action creates. */
export interface ContextParts extends ChainAccess {
  /** The user's halves that this client has made, so that it makes each only once. */
  readonly madeHalves: MadeHalves;
}

/** State that the actions of one client share. */
export interface ClientContext extends ContextParts {
  readonly network: Network;
  readonly raw: RawClients;
  /** Makes the unary calls of the actions, and repeats them. */
  readonly call: ServiceCaller;
  readonly engine: CryptoEngine;
  /** Calls GetNetwork and checks that the answer matches the client's network. */
  getNetwork(action: Action): Promise<GetNetworkResponse>;
  /** A cache of Active dWallets. Their contents never change. */
  readonly activeDWallets: Map<string, ChainDWallet>;
}
