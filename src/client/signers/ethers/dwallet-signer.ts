import {
  AbstractSigner,
  type Authorization,
  type AuthorizationRequest,
  assert,
  assertArgument,
  concat,
  copyRequest,
  encodeRlp,
  getAddress,
  getBigInt,
  getBytes,
  hexlify,
  MessagePrefix,
  type Provider,
  resolveAddress,
  resolveProperties,
  Signature,
  Transaction,
  type TransactionLike,
  type TransactionRequest,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
  toBeArray,
  toUtf8Bytes,
} from "ethers";
import { ethereumAddress } from "../../../protocol/signatures/addresses.ts";
import type { SignOptions } from "../../sdk/index.ts";
import {
  createMessageSigner,
  type KnownKey,
  type MessageSigner,
  type SigningClient,
  type SigningKey,
  withPublicKey,
} from "../message-signer.ts";

/**
 * An ethers signer for a dWallet on secp256k1. On first use it reads the public key from the chain and proves it with
 * the seed, unless the key contains it. It checks arguments like ethers' own wallet. Its methods reject with a TssError
 * when the client fails, for the reasons of `client.sign`.
 *
 * @example
 * const signer = new DWalletSigner(client, { seed, dwalletId }, provider);
 * await signer.sendTransaction({ to, value });
 */
export class DWalletSigner extends AbstractSigner {
  readonly #client: SigningClient;
  readonly #key: SigningKey | KnownKey;
  readonly #options: SignOptions;
  #asked: Promise<KnownKey> | undefined;
  #known: KnownKey | undefined;

  constructor(
    client: SigningClient,
    key: SigningKey | KnownKey,
    provider: Provider | null = null,
    options: SignOptions = {},
  ) {
    super(provider);
    this.#client = client;
    this.#key = key;
    this.#options = options;
  }

  /** Returns the same signer with another provider. */
  override connect(provider: Provider | null): DWalletSigner {
    return this.#copy(provider, this.#options);
  }

  /**
   * Returns the same signer with other options: an idempotency key, an abort signal, a progress listener.
   *
   * @example
   * await signer.withOptions({ idempotencyKey: "payout-7" }).sendTransaction({ to, value });
   */
  withOptions(options: SignOptions): DWalletSigner {
    return this.#copy(this.provider, { ...this.#options, ...options });
  }

  override async getAddress(): Promise<string> {
    return addressOf(await this.#signer());
  }

  override async signMessage(message: string | Uint8Array): Promise<string> {
    const bytes = typeof message === "string" ? toUtf8Bytes(message) : message;
    const prefix = toUtf8Bytes(`${MessagePrefix}${bytes.length}`);
    return (await this.#sign(concat([prefix, bytes]))).serialized;
  }

  override async signTransaction(request: TransactionRequest): Promise<string> {
    const { to, from, ...fields } = copyRequest(request);
    const resolved = await resolveProperties({
      to: to ? resolveAddress(to, this) : undefined,
      from: from ? resolveAddress(from, this) : undefined,
    });
    if (resolved.from !== undefined)
      assertArgument(
        getAddress(resolved.from) === (await this.getAddress()),
        "transaction from address mismatch",
        "tx.from",
        resolved.from,
      );
    const transaction = Transaction.from({ ...fields, to: resolved.to ?? null } as TransactionLike<string>);
    transaction.signature = await this.#sign(transaction.unsignedSerialized);
    return transaction.serialized;
  }

  override async signTypedData(
    domain: TypedDataDomain,
    types: Record<string, TypedDataField[]>,
    value: Record<string, unknown>,
  ): Promise<string> {
    const populated = await TypedDataEncoder.resolveNames(domain, types, value, (name) =>
      this.#resolve(name),
    );
    return (await this.#sign(TypedDataEncoder.encode(populated.domain, types, populated.value))).serialized;
  }

  /** Signs an authorization of EIP-7702. A missing nonce or chain id comes from the provider. */
  override async authorize(request: AuthorizationRequest): Promise<Authorization> {
    const populated = await this.populateAuthorization({
      ...request,
      address: await resolveAddress(request.address, this),
    });
    const address = getAddress(await resolveAddress(populated.address, this));
    const chainId = getBigInt(populated.chainId ?? 0);
    const nonce = getBigInt(populated.nonce ?? 0);
    const list = encodeRlp([toBeArray(chainId), address, toBeArray(nonce)]);
    return { address, chainId, nonce, signature: await this.#sign(concat(["0x05", list])) };
  }

  async #signer(): Promise<MessageSigner> {
    const known = this.#known ?? (await this.#ask());
    const signer = createMessageSigner(this.#client, known, ALGORITHM, this.#options);
    this.#known = known;
    return signer;
  }

  async #ask(): Promise<KnownKey> {
    this.#asked ??= withPublicKey(this.#client, this.#key, ALGORITHM.curve, this.#options);
    try {
      return await this.#asked;
    } finally {
      this.#asked = undefined;
    }
  }

  #copy(provider: Provider | null, options: SignOptions): DWalletSigner {
    const copy = new DWalletSigner(this.#client, this.#key, provider, options);
    // The copy does not share a pending read, because the original's signal aborts that read.
    copy.#known = this.#known;
    return copy;
  }

  /** Signs the Keccak-256 of a pre-image. */
  async #sign(preImage: string): Promise<Signature> {
    const signature = await (await this.#signer()).sign(getBytes(preImage));
    const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)].map((part) => hexlify(part));
    return Signature.from({ r: r!, s: s!, yParity: signature[64] === 0 ? 0 : 1 });
  }

  async #resolve(name: string): Promise<string> {
    assert(this.provider !== null, "cannot resolve ENS names without a provider", "UNSUPPORTED_OPERATION", {
      operation: "resolveName",
      info: { name },
    });
    const address = await this.provider.resolveName(name);
    assert(address !== null, "unconfigured ENS name", "UNCONFIGURED_NAME", { value: name });
    return address;
  }
}

const ALGORITHM = {
  curve: "SECP256K1",
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "KECCAK256",
} as const;

function addressOf(signer: MessageSigner): string {
  return ethereumAddress(signer.publicKey);
}
