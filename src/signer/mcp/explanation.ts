import { McpError } from "./mcp-error.ts";
import type { PayloadInput } from "./payload-input.ts";
import { type Untrusted, untrusted } from "./untrusted.ts";

/** What a payload does, in words that only this server has chosen. */
export interface Explanation {
  readonly words: readonly string[];
  /** What a careful person would ask about before signing. */
  readonly warnings: readonly string[];
  /** What the payload's author wrote. */
  readonly content?: Untrusted | undefined;
}

/** Explains a payload. Throws McpError VALIDATION if it is malformed or its library is not installed. */
export async function explain(input: PayloadInput): Promise<Explanation> {
  switch (input.kind) {
    case "evm_transaction": {
      const { explainEvmTransaction } = await load("viem", () => import("./explain-evm.ts"));
      return explainEvmTransaction(input.octets);
    }
    case "evm_typed_data": {
      const { explainTypedData } = await load("viem", () => import("./explain-evm.ts"));
      return explainTypedData(input.json);
    }
    case "solana_transaction": {
      const { explainSolana } = await load("@solana/kit", () => import("./explain-solana.ts"));
      return explainSolana(input.octets);
    }
    case "evm_message":
    case "sui_message": {
      const content = untrusted(new TextDecoder().decode(input.octets));
      return {
        words: ["A personal message. It proves who has the key; sites use it to sign in."],
        warnings: [],
        content,
      };
    }
    case "bitcoin_psbt": {
      const { explainPsbt } = await loadBitcoin();
      return explainPsbt(input.octets);
    }
    case "sui_transaction": {
      const { explainSui } = await load("@mysten/sui", () => import("./explain-sui.ts"));
      return explainSui(input.octets);
    }
  }
}

/** Counts the signatures of the network that a payload can need. Throws like {@link explain}. */
export async function countSignatures(input: PayloadInput): Promise<number> {
  return input.kind === "bitcoin_psbt" ? Math.max(1, (await loadBitcoin()).countPsbtInputs(input.octets)) : 1;
}

const loadBitcoin = () => load("@scure/btc-signer", () => import("./explain-bitcoin.ts"));

async function load<T>(name: string, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch {
    throw new McpError("VALIDATION", `kind: explaining it needs the package ${name} beside this server`);
  }
}
