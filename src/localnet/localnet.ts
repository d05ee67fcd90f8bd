import { startFullnodeServer } from "./fullnode/server.ts";
import { type LocalChain, type LocalChainOptions, openLocalChain } from "./local-chain.ts";

/** How to start a local network; everything has a default. */
export interface LocalnetOptions extends LocalChainOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** A running local network. Its `close` answers what is under way first. */
export interface Localnet extends Omit<LocalChain, "answerCall" | "routes"> {
  /** The fullnode's base URL, for `SuiGrpcClient`; the faucet listens there too. */
  readonly url: string;
  readonly port: number;
}

/** Starts an Ika network on a Sui fullnode in this process. */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  const { answerCall, routes, ...chain } = await openLocalChain(options);
  try {
    const { host = "127.0.0.1", port = 0, log = () => undefined } = options;
    const server = await startFullnodeServer({ host, port, answerCall, routes, log });
    let closed: Promise<void> | undefined;
    return {
      ...chain,
      url: server.url,
      port: server.port,
      get ikaConfig() {
        return structuredClone(chain.ikaConfig);
      },
      close() {
        closed ??= server.close().then(() => chain.close());
        return closed;
      },
    };
  } catch (error) {
    await chain.close();
    throw error;
  }
}
