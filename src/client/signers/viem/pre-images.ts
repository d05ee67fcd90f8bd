import {
  type AuthorizationRequest,
  concatHex,
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
  numberToHex,
  type TypedData,
  type TypedDataDefinition,
  type TypedDataDomain,
  type TypedDataParameter,
  toRlp,
  validateTypedData,
} from "viem";

/**
 * Encodes the EIP-712 pre-image: 0x1901, the domain's hash, and the struct's hash unless the domain itself is signed.
 */
export function typedDataPreImage<
  const typedData extends TypedData | Record<string, unknown>,
  primaryType extends keyof typedData | "EIP712Domain",
>(parameters: TypedDataDefinition<typedData, primaryType>): Hex {
  // The generic type serves only the caller. `validateTypedData` below checks the values at run time.
  const { domain = {}, message, primaryType, types: given } = parameters as unknown as AnyTypedData;
  const types: Record<string, readonly TypedDataParameter[]> = {
    EIP712Domain: getTypesForEIP712Domain({ domain }),
    ...given,
  };
  validateTypedData({ domain, message, primaryType, types });
  const separator = hashDomain({ domain: { ...domain }, types });
  if (primaryType === "EIP712Domain") return concatHex(["0x1901", separator]);
  return concatHex(["0x1901", separator, hashStruct({ data: message, primaryType, types })]);
}

/** Typed data whose types are unknown at compile time. */
interface AnyTypedData {
  readonly domain?: TypedDataDomain | undefined;
  readonly message: Record<string, unknown>;
  readonly primaryType: string;
  readonly types: Readonly<Record<string, readonly TypedDataParameter[]>>;
}

/** Encodes the EIP-7702 pre-image: 0x05 and the RLP list of chain id, address and nonce. */
export function authorizationPreImage(request: AuthorizationRequest): Hex {
  const { chainId, nonce } = request;
  const address = request.contractAddress ?? request.address;
  const quantity = (value: number): Hex => (value === 0 ? "0x" : numberToHex(value));
  return concatHex(["0x05", toRlp([quantity(chainId), address, quantity(nonce)])]);
}
