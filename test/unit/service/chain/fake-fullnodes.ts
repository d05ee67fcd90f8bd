import { createFullnodes, type FullnodesOptions } from "../../../../src/service/chain/fullnodes/fullnodes.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

type Answer = Response | Error | "never";
export const A = "https://a.example/key-of-a";
const B = "https://b.example";
export const READ = "/sui.rpc.v2.LedgerService/GetObject";
export const EXECUTE = "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction";
export const STREAM = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints";
export const MESSAGE = Uint8Array.of(0, 0, 0, 0, 1, 7);

/** A gRPC-web answer without a message, with the status in its body. */
export const trailers = (status: number) => {
  const text = new TextEncoder().encode(`grpc-status: ${status}\r\n`);
  return new Response(Uint8Array.from([0x80, 0, 0, 0, text.length, ...text]));
};
export const message = () => new Response(MESSAGE);

/** Nodes whose answers a test sets, and the calls that reached them. */
export function createFakes(chains: Record<string, string | (() => Promise<string>)> = {}, chain = "chain") {
  const clock = createManualClock();
  const calls: string[] = [];
  const switches: string[] = [];
  const answers = new Map<string, () => Answer>();
  const asked: string[] = [];
  let hang = (): void => {};
  const hangs = new Promise<void>((resolve) => {
    hang = resolve;
  });
  const options: FullnodesOptions = {
    urls: [A, `${B}/`],
    chain,
    clock,
    async send(input, init) {
      const url = String(input);
      const host = url.startsWith(A) ? "a" : "b";
      calls.push(`${host}${url.slice((host === "a" ? A : B).length)}`);
      const answer = (answers.get(host) ?? message)();
      if (answer instanceof Error) throw answer;
      if (answer !== "never") return answer;
      hang();
      return new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal!.reason as Error));
      });
    },
    async chainOf(url) {
      const host = url.startsWith(A) ? "a" : "b";
      asked.push(host);
      const found = chains[host] ?? chain;
      return typeof found === "string" ? found : found();
    },
    onSwitch: (host) => switches.push(host),
  };
  const fullnodes = createFullnodes(options);
  /** The fullnode A alone. */
  const only = () => createFullnodes({ ...options, urls: [A] });
  const read = async (route = READ, init?: RequestInit) =>
    new Uint8Array(await (await fullnodes.fetch(`${A}${route}`, init)).arrayBuffer());
  const set = (host: "a" | "b", answer: () => Answer) => answers.set(host, answer);
  return { fullnodes, only, clock, calls, switches, asked, read, set, hangs };
}
