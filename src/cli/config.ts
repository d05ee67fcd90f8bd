import { describeConfig, loadConfig } from "../config.ts";

/** `tss config`: the effective table, then every fault if there are any. */
export async function runConfig(): Promise<void> {
  console.log(describeConfig());
  loadConfig();
}
