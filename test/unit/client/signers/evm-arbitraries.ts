import fc from "fast-check";
import type { Address, Hex, TransactionSerializable } from "viem";

/** Random hex of this many bytes. */
export const hex = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

/** Random hex of at most this many bytes. */
const hexUpTo = (length: number): fc.Arbitrary<Hex> => fc.integer({ min: 0, max: length }).chain(hex);

/** A private key of secp256k1. */
export const privateKey = fc
  .bigInt({ min: 1n, max: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140n })
  .map((scalar): Hex => `0x${scalar.toString(16).padStart(64, "0")}`);

export const address: fc.Arbitrary<Address> = hex(20);

const amount = fc.bigInt({ min: 0n, max: 2n ** 100n });
const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hex(32), { maxLength: 2 }) }), {
  maxLength: 2,
});
const common = {
  nonce: fc.nat({ max: 2 ** 32 }),
  gas: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  to: fc.option(address, { nil: undefined }),
  value: amount,
  data: hexUpTo(100),
};
const chainId = fc.integer({ min: 1, max: 2 ** 40 });
const fees = fc
  .tuple(amount, amount)
  .map(([a, b]) => (a > b ? [a, b] : [b, a]))
  .map(([max = 0n, tip = 0n]) => ({ maxFeePerGas: max, maxPriorityFeePerGas: tip }));
const authorization = fc.record({
  address,
  chainId: fc.nat({ max: 2 ** 40 }),
  nonce: fc.nat({ max: 1000 }),
  r: hex(32).map((r): Hex => `0x1${r.slice(3)}`),
  s: hex(32).map((s): Hex => `0x1${s.slice(3)}`),
  yParity: fc.constantFrom(0, 1),
});
/** Short stand-ins for blobs: no library checks the sidecars that accompany the transaction. */
const sidecar = fc.record({ blob: hex(64), commitment: hex(48), proof: hex(48) });

/** A transaction of any of the five types, in viem's form. */
export const transaction: fc.Arbitrary<TransactionSerializable> = fc.oneof(
  fc.record({
    ...common,
    type: fc.constant("legacy" as const),
    gasPrice: amount,
    chainId: fc.option(chainId, { nil: undefined }),
  }),
  fc.record({ ...common, type: fc.constant("eip2930" as const), chainId, gasPrice: amount, accessList }),
  withFees(fc.record({ ...common, type: fc.constant("eip1559" as const), chainId, accessList })),
  withFees(
    fc.record({
      ...common,
      to: address,
      type: fc.constant("eip4844" as const),
      chainId,
      accessList,
      maxFeePerBlobGas: fc.bigInt({ min: 1n, max: 2n ** 60n }),
      blobVersionedHashes: fc.array(
        hex(32).map((hash): Hex => `0x01${hash.slice(4)}`),
        { minLength: 1, maxLength: 3 },
      ),
      sidecars: fc.option(fc.array(sidecar, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    }),
  ),
  withFees(
    fc.record({
      ...common,
      to: address,
      type: fc.constant("eip7702" as const),
      chainId,
      accessList,
      authorizationList: fc.array(authorization, { minLength: 1, maxLength: 2 }),
    }),
  ),
);

function withFees<T>(
  record: fc.Arbitrary<T>,
): fc.Arbitrary<T & { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
  return fc.tuple(record, fees).map(([fields, prices]) => ({ ...fields, ...prices }));
}

const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  bool: fc.boolean(),
  address,
  bytes32: hex(32),
  bytes: hexUpTo(70),
  string: fc.string({ maxLength: 40 }),
};

/** Typed data with types that are known only at run time. */
interface AnyTypedData {
  readonly domain: {
    readonly name: string;
    readonly version?: string;
    readonly chainId?: number;
    readonly verifyingContract?: Address;
    readonly salt?: Hex;
  };
  readonly types: Record<string, { name: string; type: string }[]>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

/** Typed data with fields of random types, a nested struct, and lists of both; and a domain of random parts. */
export const typedData: fc.Arbitrary<AnyTypedData> = fc
  .tuple(
    fc.array(fc.constantFrom(...Object.keys(VALUES)), { minLength: 1, maxLength: 5 }),
    fc.array(fc.constantFrom(...Object.keys(VALUES)), { minLength: 1, maxLength: 3 }),
  )
  .chain(([outer, inner]) => {
    const fieldsOf = (types: readonly string[]) => types.map((type, i) => ({ name: `field${i}`, type }));
    const structOf = (types: readonly string[]) =>
      fc.record(Object.fromEntries(types.map((type, i) => [`field${i}`, VALUES[type]!])));
    return fc.record({
      domain: fc.record(
        {
          name: fc.string({ maxLength: 20 }),
          version: fc.string({ maxLength: 5 }),
          chainId: fc.nat(),
          verifyingContract: address,
          salt: hex(32),
        },
        { requiredKeys: ["name"] },
      ),
      types: fc.constant({
        Outer: [
          ...fieldsOf(outer),
          { name: "inner", type: "Inner" },
          { name: "several", type: "Inner[]" },
          { name: "words", type: "string[]" },
        ],
        Inner: fieldsOf(inner),
      }),
      primaryType: fc.constant("Outer"),
      message: fc
        .tuple(
          structOf(outer),
          structOf(inner),
          fc.array(structOf(inner), { maxLength: 2 }),
          fc.array(fc.string(), { maxLength: 2 }),
        )
        .map(([fields, struct, several, words]) => ({ ...fields, inner: struct, several, words })),
    });
  });
