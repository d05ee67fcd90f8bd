import { SystemInnerDynamicField, SystemModule } from "@ika.xyz/sdk";
import { GrpcTypes } from "@mysten/sui/grpc";
import { toBase58 } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { U64 } from "../protocol/chain/fast-bcs.ts";
import { blake2b256 } from "../protocol/chain/sui-hash.ts";
import {
  GENESIS_SHARED,
  GENESIS_VERSION,
  type GenesisObject,
  type GenesisOptions,
  genesisId,
  type NetworkAddresses,
} from "./contracts/addresses.ts";
import { coordinatorGenesis } from "./contracts/coordinator/coordinator-genesis.ts";
import { treasuryGenesis } from "./contracts/treasury/treasury-genesis.ts";
import { buildEffects } from "./fullnode/execution/effects.ts";
import { encodeExecuted } from "./fullnode/execution/executed-transaction.ts";
import { storageCostOf } from "./fullnode/execution/gas.ts";
import { SYSTEM_SENDER } from "./fullnode/execution/system-transaction.ts";
import { ROOT_ID, ROOT_TYPE } from "./fullnode/objects/address-balance.ts";
import type { Commit } from "./fullnode/objects/commit.ts";
import { fieldParts, u64Name } from "./fullnode/objects/dynamic-fields.ts";
import { type ChainObject, Coin, type Owner, sealObject } from "./fullnode/objects/object.ts";
import { addressBytes, coinObjectType, SUI_TYPE } from "./fullnode/objects/sui-types.ts";
import { timestampProto } from "./fullnode/wire/transaction-proto.ts";

/** Returns the first commit of a network. Its digest is the chain's id and also depends on the time of creation. */
export function genesisCommit(options: GenesisOptions): Commit {
  const { timestampMs } = options;
  const time = U64.serialize(timestampMs).toBytes();
  const digest = toBase58(blake2b256(utf8ToBytes("ika-localnet/chain/"), options.seed, time));
  const objects = [
    ...coordinatorGenesis(options),
    ...systemGenesis(options.addresses),
    { id: ROOT_ID, type: ROOT_TYPE, contents: addressBytes(ROOT_ID), owner: GENESIS_SHARED },
    ...treasuryGenesis(options),
    ...[options.hotWalletAddress, ...options.accounts].flatMap((address) => coins(options, address)),
  ];
  const written = objects.map((object) =>
    sealObject({
      ...object,
      field: object.field,
      version: GENESIS_VERSION,
      previousTransaction: digest,
      storageRebate: storageCostOf(object.contents),
    }),
  );
  const executed = {
    digest,
    transaction: genesisTransaction(digest),
    signatures: [],
    effects: genesisEffects(digest, written),
    checkpoint: 0n,
    timestamp: timestampProto(timestampMs),
    balanceChanges: [],
  };
  return { digest, checkpoint: 0n, timestampMs, executed: encodeExecuted(executed), written, deleted: [] };
}

/** Returns the transaction of the genesis without its objects, which are in the effects. */
function genesisTransaction(digest: string): GrpcTypes.Transaction {
  return {
    digest,
    version: 1,
    sender: SYSTEM_SENDER,
    kind: {
      kind: GrpcTypes.TransactionKind_Kind.GENESIS,
      data: { oneofKind: "genesis", genesis: { objects: [] } },
    },
  };
}

function genesisEffects(digest: string, written: readonly ChainObject[]): GrpcTypes.TransactionEffects {
  return buildEffects({
    digest,
    sender: SYSTEM_SENDER,
    epoch: FIRST_SUI_EPOCH,
    lamportVersion: GENESIS_VERSION,
    gasUsed: { computationCost: 0n, storageCost: 0n, storageRebate: 0n, nonRefundableStorageFee: 0n },
    gasObjectId: undefined,
    failure: undefined,
    changes: written.map((after) => ({ id: after.id, type: after.type, before: undefined, after })),
    funds: [],
    readOnlyShared: [],
    dependencies: [],
    events: [],
  });
}

const FIRST_SUI_EPOCH = 1n;
const SYSTEM_VERSION = 1n;
/** The number of gas coins per account, and the balance of each in MIST. */
const GAS_COIN_COUNT = 16;
const GAS_COIN_MIST = 1_000_000_000_000n;
/** The balance of an account's only IKA coin, in the smallest unit. */
const IKA_COIN_AMOUNT = 1_000_000_000_000_000n;
/** Enough zeros to decode a default value of any struct. */
const ZEROS = new Uint8Array(64 * 1024);

/** Returns the Ika system object. Clients read only its version and package. */
function systemGenesis(addresses: NetworkAddresses): GenesisObject[] {
  const { systemId, ikaSystemPackageId } = addresses;
  const contents = SystemModule.System.serialize({
    id: systemId,
    version: SYSTEM_VERSION,
    package_id: ikaSystemPackageId,
    new_package_id: null,
    migration_epoch: null,
  }).toBytes();
  const inner = SystemInnerDynamicField.serialize(SystemInnerDynamicField.parse(ZEROS))
    .toBytes()
    .subarray(40);
  const innerType = `${ikaSystemPackageId}::system_inner::SystemInner`;
  return [
    { id: systemId, type: `${ikaSystemPackageId}::system::System`, contents, owner: GENESIS_SHARED },
    {
      ...fieldParts(systemId, u64Name(SYSTEM_VERSION), innerType, inner),
      owner: { kind: "object", parentId: systemId },
    },
  ];
}

function coins(options: GenesisOptions, address: string): GenesisObject[] {
  const owner: Owner = { kind: "address", address };
  const coin = (name: string, coinType: string, balance: bigint): GenesisObject => {
    const id = genesisId(options.seed, `coin/${address}/${name}`);
    return { id, type: coinObjectType(coinType), contents: Coin.serialize({ id, balance }).toBytes(), owner };
  };
  return [
    ...Array.from({ length: GAS_COIN_COUNT }, (_, index) => coin(`sui/${index}`, SUI_TYPE, GAS_COIN_MIST)),
    coin("ika", options.addresses.ikaCoinType, IKA_COIN_AMOUNT),
  ];
}
