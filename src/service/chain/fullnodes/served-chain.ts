import { fromBase58 } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import { unlessAborted } from "../../../protocol/unless-aborted.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";

/**
 * Creates the check that fullnodes serve the chain of the network. Replies of Sui's RPC service name their chain. A node
 * whose replies do not is asked for its chain, and its answer counts for a few seconds.
 */
export function createServedChain(options: ServedChainOptions): ServedChain {
  const { chainOf, clock } = options;
  const answers = new Map<CheckedNode, Answer>();
  let { chain } = options;
  return {
    pin(chainIdentifier) {
      chain = chainIdentifier;
    },
    verify,
    forget: (node) => void answers.delete(node),
    async checkReply(node, { ok, headers }, signal) {
      if (chain === undefined) return;
      const named = chainOfReply(headers);
      if (named !== undefined) {
        if (!isReplyOfChain(named, chain)) throw otherChain(node, named, chain);
        return;
      }
      // A refusal may come from a proxy, and says nothing about a chain.
      if (!ok) return;
      if ((answers.get(node)?.untilMs ?? 0) <= clock.now()) answers.delete(node);
      await unlessAborted(verify(node), signal ?? undefined);
    },
  };

  async function verify(node: CheckedNode): Promise<void> {
    const found = await (answers.get(node) ?? ask(node)).chain;
    chain ??= found;
    if (found === chain) return;
    answers.delete(node);
    throw otherChain(node, found, chain);
  }

  /** Calls share the answer, which is still awaited when one of them is aborted. A failure is not kept. */
  function ask(node: CheckedNode): Answer {
    const answer = { chain: chainOf(node.url), untilMs: clock.now() + TRUSTED_MS };
    answers.set(node, answer);
    answer.chain.catch(() => {
      if (answers.get(node) === answer) answers.delete(node);
    });
    return answer;
  }
}

/** The chain that fullnodes must serve. */
export interface ServedChain {
  /** Sets the chain, once its identifier has been checked. */
  readonly pin: (chainIdentifier: string) => void;
  /** Asks the node for its chain, unless it has answered before. Throws if that is another chain. */
  verify(node: CheckedNode): Promise<void>;
  /** Forgets the node's answer. */
  forget(node: CheckedNode): void;
  /** Throws if the reply is of another chain. */
  checkReply(
    node: CheckedNode,
    reply: Pick<Response, "ok" | "headers">,
    signal: AbortSignal | null | undefined,
  ): Promise<void>;
}

/** A fullnode. */
export interface CheckedNode {
  readonly url: string;
  readonly host: string;
}

export interface ServedChainOptions {
  /** The identifier of the network's chain. Undefined until a node has named it, or until it is pinned. */
  readonly chain: string | undefined;
  /** Asks a node for the identifier of its chain, within a time limit. */
  readonly chainOf: (url: string) => Promise<string>;
  readonly clock: Pick<Clock, "now">;
}

/** A node's answer about its chain. */
interface Answer {
  readonly chain: Promise<string>;
  /** The end of the time in which it vouches for replies that do not name their chain. */
  readonly untilMs: number;
}

const TRUSTED_MS = 5_000;

function otherChain({ host }: CheckedNode, found: string, chain: string): Error {
  return new Error(`the fullnode ${host} serves another chain: ${found}, not ${chain}`);
}

/**
 * Returns the chain that a fullnode's reply names in the header `x-sui-chain-id`; undefined if it names none. Sui's RPC
 * service sets the header on every reply (`sui_rpc_api::response`). A proxy may remove it.
 */
function chainOfReply(headers: Headers): string | undefined {
  const named = headers.get(HEADER) ?? "";
  return SHORT_FORM.test(named) || isChainIdentifier(named) ? named : undefined;
}

/** Returns whether a reply's chain can be the chain with this identifier. */
function isReplyOfChain(named: string, chainIdentifier: string): boolean {
  if (!SHORT_FORM.test(named) || !isChainIdentifier(chainIdentifier)) return named === chainIdentifier;
  return bytesToHex(fromBase58(chainIdentifier)).startsWith(named);
}

/** Returns whether the text is a chain identifier: the digest of the chain's first checkpoint, in Base58. */
function isChainIdentifier(text: string): boolean {
  // Decoding a long text would take milliseconds.
  if (text.length > DIGEST_MAX_CHARACTERS) return false;
  try {
    return fromBase58(text).length === DIGEST_BYTES;
  } catch {
    return false;
  }
}

const HEADER = "x-sui-chain-id";
const DIGEST_BYTES = 32;
const DIGEST_MAX_CHARACTERS = 44;
/** The display form of older nodes: the first four bytes of the digest in hex. */
const SHORT_FORM = /^[0-9a-f]{8}$/;
