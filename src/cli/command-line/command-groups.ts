import type { CommandTree } from "./command.ts";

/** All commands of `tss`, in the order of its help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Run",
    commands: {
      serve: async () => (await import("../commands/serve.ts")).serveCommand,
      localnet: async () => (await import("../commands/localnet.ts")).localnetCommand,
      demo: async () => (await import("../commands/demo.ts")).demoCommand,
      try: async () => (await import("../commands/try.ts")).tryCommand,
      migrate: async () => (await import("../commands/migrate.ts")).migrateCommand,
      config: async () => (await import("../commands/config.ts")).configCommand,
      doctor: async () => (await import("../commands/doctor.ts")).doctorCommand,
      status: async () => (await import("../commands/operator/status.ts")).statusCommand,
      reconcile: async () => (await import("../commands/operator/reconcile.ts")).reconcileCommand,
      version: async () => (await import("../commands/version.ts")).versionCommand,
    },
  },
  {
    title: "Projects and keys",
    commands: {
      project: async () => (await import("../commands/access/project.ts")).projectCommands,
      key: async () => (await import("../commands/access/key.ts")).keyCommands,
      "identity-provider": async () =>
        (await import("../commands/access/identity-provider.ts")).identityProviderCommands,
      user: async () => (await import("../commands/access/user.ts")).userCommands,
      session: async () => (await import("../commands/access/session.ts")).sessionCommands,
      webhook: async () => (await import("../commands/webhook/webhook.ts")).webhookCommands,
      "admin-key": async () => (await import("../commands/access/admin-key.ts")).adminKeyCommands,
      audit: async () => (await import("../commands/operator/audit.ts")).auditCommands,
    },
  },
  {
    title: "dWallets and signatures",
    commands: {
      sign: async () => (await import("../commands/signing/sign.ts")).signCommands,
      holder: async () => (await import("../commands/signing/holder.ts")).holderCommands,
    },
  },
  {
    title: "Beside a backend",
    commands: {
      signer: async () => (await import("../commands/signer.ts")).signerCommands,
      watchtower: async () => (await import("../commands/watchtower.ts")).watchtowerCommand,
    },
  },
  {
    title: "Money",
    commands: {
      balance: async () => (await import("../commands/billing/balance.ts")).balanceCommands,
      credit: async () => (await import("../commands/billing/credit.ts")).creditCommands,
      deposit: async () => (await import("../commands/billing/deposit.ts")).depositCommands,
      "coin-price": async () => (await import("../commands/billing/price.ts")).coinPriceCommands,
      price: async () => (await import("../commands/billing/price.ts")).priceCommand,
      ledger: async () => (await import("../commands/billing/ledger.ts")).ledgerCommands,
      usage: async () => (await import("../commands/billing/usage.ts")).usageCommand,
    },
  },
  {
    title: "Presigns and the chain",
    commands: {
      network: async () => (await import("../commands/operator/network.ts")).networkCommands,
      presign: async () => (await import("../commands/operator/presign.ts")).presignCommands,
      receipt: async () => (await import("../commands/receipt.ts")).receiptCommands,
      recover: async () => (await import("../commands/recover.ts")).recoverCommand,
      inspect: async () => (await import("../commands/operator/inspect.ts")).inspectCommand,
      treasury: async () => (await import("../commands/treasury/treasury.ts")).treasuryCommand,
      lanes: async () => (await import("../commands/operator/status.ts")).lanesCommand,
      outbox: async () => (await import("../commands/operator/status.ts")).outboxCommand,
      transaction: async () => (await import("../commands/operator/transaction.ts")).transactionCommands,
    },
  },
];

/** The first words of all commands. */
export const COMMAND_NAMES: readonly string[] = COMMAND_GROUPS.flatMap(({ commands }) =>
  Object.keys(commands),
);

/** Loads the command of the first word. */
export async function findCommand(name: string): Promise<CommandTree | undefined> {
  const group = COMMAND_GROUPS.find(({ commands }) => Object.hasOwn(commands, name));
  return await group?.commands[name]?.();
}

/** A group of related commands. Each command and its dependencies are loaded when it is called. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: Readonly<Record<string, () => Promise<CommandTree>>>;
}
