import type { Mutant } from "./mutant.ts";

const VIEM = ["test/unit/client/signers/viem.test.ts"];
const ETHERS = ["test/unit/client/signers/ethers.test.ts"];
const SOLANA = ["test/unit/client/signers/solana.test.ts"];
const SUI = ["test/unit/client/signers/sui.test.ts"];
const BITCOIN = ["test/component/client/signers/bitcoin.test.ts"];

/** Lines that decide what the signers of other libraries sign, and for whom. */
export const SIGNER_MUTANTS: readonly Mutant[] = [
  {
    name: "a public key is not proven with the seed",
    file: "src/client/sdk/actions/recovery/recover-within.ts",
    find: "    await openFittingShare(context, action, dwallet, source, given);\n",
    replace: "",
    tests: ["test/unit/client/sdk/read-key.test.ts"],
  },
  {
    name: "a signer's address is read without the seed that proves it",
    file: "src/client/signers/message-signer.ts",
    find: "client.readKey({ ...key, curve },",
    replace: "client.readKey({ dwalletId: key.dwalletId, curve },",
    tests: VIEM,
  },
  {
    name: "a public key that differs from the chain's is accepted for one signature",
    file: "src/client/signers/message-signer.ts",
    find: "      await checkKey(client, key, algorithm.curve, options);\n",
    replace: "",
    tests: VIEM,
  },
  {
    name: "a public key that differs from the chain's is accepted for several signatures",
    file: "src/client/signers/message-signer.ts",
    find: "  await checkKey(client, key, first.algorithm.curve, { signal, traceparent });\n",
    replace: "",
    tests: SOLANA,
  },
  {
    name: "several messages share one idempotency key",
    file: "src/client/signers/message-signer.ts",
    find: "`${idempotencyKey}/${name}`",
    replace: "idempotencyKey",
    tests: SOLANA,
  },
  {
    name: "the failure of one of several messages is not reported",
    file: "src/client/signers/message-signer.ts",
    find: 'if (result.status === "rejected") throw result.reason;\n    return result.value.signature;',
    replace: 'return result.status === "rejected" ? new Uint8Array(64) : result.value.signature;',
    tests: SOLANA,
  },
  {
    name: "the options of one signature are lost",
    file: "src/client/signers/viem/dwallet-account.ts",
    find: "{ ...options, ...changed }",
    replace: "options",
    tests: VIEM,
  },
  {
    name: "a transaction of another sender is signed by viem's account",
    file: "src/client/signers/viem/dwallet-account.ts",
    find: "      checkSender(transaction, address);\n",
    replace: "",
    tests: VIEM,
  },
  {
    name: "sidecars are signed with a blob transaction",
    file: "src/client/signers/viem/dwallet-account.ts",
    find: "isBlob ? { ...transaction, sidecars: false } : transaction",
    replace: "transaction",
    tests: VIEM,
  },
  {
    name: "the client's error reaches viem unconverted",
    file: "src/client/signers/viem/dwallet-signing-error.ts",
    find: "error instanceof TssError ? new DWalletSigningError(error) : error",
    replace: "error",
    tests: VIEM,
  },
  {
    name: "a chain id of zero is written as a digit in an authorization",
    file: "src/client/signers/viem/pre-images.ts",
    find: 'value === 0 ? "0x" : numberToHex(value)',
    replace: "numberToHex(value)",
    tests: VIEM,
  },
  {
    name: "a domain alone is signed with a struct after it",
    file: "src/client/signers/viem/pre-images.ts",
    find: 'if (primaryType === "EIP712Domain")',
    replace: 'if (primaryType === "")',
    tests: VIEM,
  },
  {
    name: "a transaction of another sender is signed by ethers' signer",
    file: "src/client/signers/ethers/dwallet-signer.ts",
    find: "getAddress(resolved.from) === (await this.getAddress())",
    replace: "getAddress(resolved.from) !== null",
    tests: ETHERS,
  },
  {
    name: "the recovery id does not reach ethers",
    file: "src/client/signers/ethers/dwallet-signer.ts",
    find: "signature[64] === 0 ? 0 : 1",
    replace: "0",
    tests: ETHERS,
  },
  {
    name: "a Solana transaction that does not name the key is signed",
    file: "src/client/signers/solana/dwallet-solana-signer.ts",
    find: "if (!Object.hasOwn(signatures, own))",
    replace: "if (signatures === null)",
    tests: SOLANA,
  },
  {
    name: "Solana Kit's abort signal is ignored",
    file: "src/client/signers/solana/dwallet-solana-signer.ts",
    find: "abortSignal && { signal: abortSignal }",
    replace: "{}",
    tests: SOLANA,
  },
  {
    name: "the recovery id is left in Sui's signatures",
    file: "src/client/signers/sui/dwallet-sui-signer.ts",
    find: ".subarray(0, 64)",
    replace: "",
    tests: SUI,
  },
  {
    name: "a signature that others can reuse is made without permission",
    file: "src/client/signers/bitcoin/plan-inputs.ts",
    find: "if (!allowed.includes(byte))",
    replace: "if (allowed.length === 0)",
    tests: BITCOIN,
  },
  {
    name: "a signed input is signed and charged again",
    file: "src/client/signers/bitcoin/plan-inputs.ts",
    find: "!inputs[index]!.isSignedBy(publicKey)",
    replace: "inputs[index] !== undefined",
    tests: BITCOIN,
  },
  {
    name: "another owner's input is signed",
    file: "src/client/signers/bitcoin/plan-inputs.ts",
    find: "spent && key.kinds.get(bytesToHex(spent.script))",
    replace: 'spent && (key.kinds.get(bytesToHex(spent.script)) ?? "p2wpkh")',
    tests: BITCOIN,
  },
  {
    name: "a PSBT that costs more than the limit is signed",
    file: "src/client/signers/bitcoin/sign-psbt.ts",
    find: "if (priceMicroUsd > maxPriceMicroUsd)",
    replace: "if (priceMicroUsd > 2n * maxPriceMicroUsd)",
    tests: BITCOIN,
  },
  {
    name: "a P2WPKH signature does not commit to the amount that it spends",
    file: "src/client/signers/bitcoin/sighash.ts",
    find: "    encodeAmount(amountSats),\n",
    replace: "    encodeAmount(0n),\n",
    tests: BITCOIN,
  },
  {
    name: "a Taproot signature does not commit to the scripts that it spends",
    file: "src/client/signers/bitcoin/sighash.ts",
    find: "encodeScript(script))))",
    replace: "encodeScript(script.subarray(1)))))",
    tests: BITCOIN,
  },
  {
    name: "a quote ignores that an algorithm has its own price",
    file: "src/client/signers/bitcoin/quote-psbt.ts",
    find: "own?.priceMicroUsd ?? prices.signPriceMicroUsd",
    replace: "prices.signPriceMicroUsd",
    tests: BITCOIN,
  },
];
