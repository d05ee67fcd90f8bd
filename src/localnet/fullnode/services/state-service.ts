import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import { addressBalance, addressBalances } from "../objects/address-balance.ts";
import type { Ledger } from "../objects/ledger.ts";
import { type ChainObject, coinBalance } from "../objects/object.ts";
import {
  coinObjectType,
  coinTypeOf,
  parseAddress,
  parseStructType,
  SUI_FRAMEWORK,
  SUI_TYPE,
} from "../objects/sui-types.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";
import { objectMask, type ProjectObject } from "../wire/object-proto.ts";
import { parseReadMask, type ReadMask } from "../wire/read-mask.ts";

/**
 * Implements `sui.rpc.v2.StateService`: the objects and balances of an address, and the dynamic fields of an object.
 */
export function stateService(
  ledger: Ledger,
  coins: readonly CoinInfo[],
  projectObject: ProjectObject,
): readonly UnaryMethod[] {
  const service = GrpcTypes.StateService;
  return [
    unary(
      service,
      "ListOwnedObjects",
      GrpcTypes.ListOwnedObjectsRequest,
      GrpcTypes.ListOwnedObjectsResponse,
      (request) => listOwnedObjects(ledger, projectObject, request),
    ),
    unary(
      service,
      "ListDynamicFields",
      GrpcTypes.ListDynamicFieldsRequest,
      GrpcTypes.ListDynamicFieldsResponse,
      (request) => listDynamicFields(ledger, projectObject, request),
    ),
    unary(service, "GetBalance", GrpcTypes.GetBalanceRequest, GrpcTypes.GetBalanceResponse, (request) => {
      const owner = parseAddress(request.owner, "owner");
      const coinType = parseStructType(request.coinType ?? SUI_TYPE, "coin_type");
      const coins = ledger.objects.owned(owner, coinObjectType(coinType));
      return { balance: balanceProto(coinType, coins, addressBalance(ledger.objects.get, owner, coinType)) };
    }),
    unary(service, "ListBalances", GrpcTypes.ListBalancesRequest, GrpcTypes.ListBalancesResponse, (request) =>
      listBalances(ledger, request),
    ),
    unary(service, "GetCoinInfo", GrpcTypes.GetCoinInfoRequest, GrpcTypes.GetCoinInfoResponse, (request) => {
      const coinType = parseStructType(request.coinType ?? "", "coin_type");
      const info = coins.find((coin) => coin.coinType === coinType);
      if (info === undefined) throw new RpcFailure(Status.NotFound, `Coin type ${coinType} not found`);
      const { decimals, name, symbol } = info;
      return { coinType, metadata: { decimals, name, symbol, description: "" } };
    }),
  ];
}

/** A coin type's metadata for `GetCoinInfo`. */
interface CoinInfo {
  readonly coinType: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
}

function listOwnedObjects(
  ledger: Ledger,
  projectObject: ProjectObject,
  request: GrpcTypes.ListOwnedObjectsRequest,
): GrpcTypes.ListOwnedObjectsResponse {
  const owner = parseAddress(request.owner, "owner");
  const mask = objectMask(request.readMask, ["object_id", "version", "object_type"]);
  const type =
    request.objectType === undefined ? undefined : parseStructType(request.objectType, "object_type");
  const objects = ledger.objects.owned(owner, type).map((object) => ({ object, key: listingKey(object) }));
  objects.sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = pageOf(objects, ({ key }) => key, request.pageSize, request.pageToken);
  return {
    objects: page.items.map(({ object }) => projectObject(object, mask)),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
}

/** Returns the sort key of a real fullnode: by type, then coins by descending balance, then by id. */
function listingKey(object: ChainObject): string {
  if (coinTypeOf(object.type) === undefined) return `${object.type} ${object.id}`;
  const inverted = (1n << 64n) - 1n - coinBalance(object.contents);
  return `${object.type} ${inverted.toString(16).padStart(16, "0")} ${object.id}`;
}

function listDynamicFields(
  ledger: Ledger,
  projectObject: ProjectObject,
  request: GrpcTypes.ListDynamicFieldsRequest,
): GrpcTypes.ListDynamicFieldsResponse {
  const parent = parseAddress(request.parent, "parent");
  const mask = parseReadMask<GrpcTypes.DynamicField>(GrpcTypes.DynamicField, request.readMask, [
    "parent",
    "field_id",
  ]);
  const page = pageOf(
    ledger.objects.fields(parent),
    (object) => object.id,
    request.pageSize,
    request.pageToken,
  );
  return {
    dynamicFields: page.items.map((object) =>
      mask.project(fieldProto(ledger, projectObject, parent, object, mask)),
    ),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
}

function fieldProto(
  ledger: Ledger,
  projectObject: ProjectObject,
  parent: string,
  object: ChainObject,
  mask: ReadMask<GrpcTypes.DynamicField>,
): GrpcTypes.DynamicField {
  const field = object.field;
  if (field === undefined) throw new Error(`object ${object.id} is not a dynamic field`);
  const child = field.childId === undefined ? undefined : ledger.objects.get(field.childId);
  const kinds = GrpcTypes.DynamicField_DynamicFieldKind;
  return {
    kind: field.childId === undefined ? kinds.FIELD : kinds.OBJECT,
    parent,
    fieldId: object.id,
    ...(mask.keeps("field_object") && {
      fieldObject: projectObject(object, mask.keeps("field_object.json") ? WHOLE : WITHOUT_JSON),
    }),
    name: { name: field.nameType, value: field.name },
    valueType: field.valueType,
    value: {
      name: field.valueType,
      value: child === undefined ? object.contents.subarray(32 + field.name.length) : child.contents,
    },
    ...(field.childId === undefined ? {} : { childId: field.childId }),
    ...(child !== undefined &&
      mask.keeps("child_object") && {
        childObject: projectObject(child, mask.keeps("child_object.json") ? WHOLE : WITHOUT_JSON),
      }),
  };
}

const WHOLE = objectMask({ paths: ["*"] });
/** JSON costs much more than all other fields. */
const WITHOUT_JSON = objectMask({
  paths: GrpcTypes.Object.fields.map(({ name }) => name).filter((name) => name !== "json"),
});

function listBalances(
  ledger: Ledger,
  request: GrpcTypes.ListBalancesRequest,
): GrpcTypes.ListBalancesResponse {
  const owner = parseAddress(request.owner, "owner");
  const byType = new Map<string, ChainObject[]>();
  for (const object of ledger.objects.owned(owner, `${SUI_FRAMEWORK}::coin::Coin`)) {
    const coinType = coinTypeOf(object.type) ?? "";
    byType.set(coinType, [...(byType.get(coinType) ?? []), object]);
  }
  const outside = addressBalances(ledger.objects, owner);
  const coinTypes = [...new Set([...byType.keys(), ...outside.keys()])].sort();
  const page = pageOf(coinTypes, (coinType) => coinType, request.pageSize, request.pageToken);
  return {
    balances: page.items.map((coinType) =>
      balanceProto(coinType, byType.get(coinType) ?? [], outside.get(coinType) ?? 0n),
    ),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
}

function balanceProto(coinType: string, coins: readonly ChainObject[], outside: bigint): GrpcTypes.Balance {
  const inCoins = coins.reduce((total, coin) => total + coinBalance(coin.contents), 0n);
  return { coinType, balance: inCoins + outside, coinBalance: inCoins, addressBalance: outside };
}

/** Returns one page of items that are in key order. The token is the last key of the previous page. */
function pageOf<T>(
  items: readonly T[],
  key: (item: T) => string,
  pageSize: number | undefined,
  pageToken: Uint8Array | undefined,
): ListingPage<T> {
  const size = Math.min(
    pageSize === undefined || pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
    MAX_PAGE_SIZE,
  );
  const after = pageToken === undefined || pageToken.length === 0 ? undefined : decodeToken(pageToken);
  const start = after === undefined ? 0 : firstAfter(items, key, after);
  const page = items.slice(start, start + size);
  const last = page[page.length - 1];
  const more = start + page.length < items.length && last !== undefined;
  return { items: page, nextPageToken: more ? new TextEncoder().encode(key(last)) : undefined };
}

/** One page of a listing and the token of the next. */
interface ListingPage<T> {
  readonly items: readonly T[];
  readonly nextPageToken: Uint8Array | undefined;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

function firstAfter<T>(items: readonly T[], key: (item: T) => string, after: string): number {
  const index = items.findIndex((item) => key(item) > after);
  return index < 0 ? items.length : index;
}

function decodeToken(token: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(token);
  } catch {
    throw new RpcFailure(Status.InvalidArgument, "invalid page_token");
  }
}
