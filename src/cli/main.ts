#!/usr/bin/env node
/**
 * `tss`: one command for the service, the localnet and the demo. Each command loads only what it needs.
 */
const COMMANDS: Record<string, { summary: string; run: (argv: string[]) => Promise<void> }> = {
  serve: {
    summary:
      "run the service; with no configuration, on an embedded database and localnet (--after-restore: the database is an older copy)",
    run: async (argv) => (await import("../main.ts")).serve(argv),
  },
  localnet: {
    summary: "run an Ika network on a Sui fullnode by itself; prints its ids",
    run: async (argv) => (await import("./localnet.ts")).runLocalnetCommand(argv),
  },
  migrate: {
    summary: "bring the database up to date and exit",
    run: async () => (await import("./migrate.ts")).runMigrate(),
  },
  project: {
    summary: "create a project with an API key: tss project create --name acme --credit-usd 50",
    run: async (argv) => (await import("./project.ts")).runProject(argv),
  },
  ledger: {
    summary: "recompute all money and name every difference: tss ledger verify",
    run: async (argv) => (await import("./ledger.ts")).runLedger(argv),
  },
  reconcile: {
    summary: "bring a restored copy of the database in line with the chain, with every replica stopped",
    run: async (argv) => (await import("./reconcile.ts")).runReconcile(argv),
  },
  audit: {
    summary:
      "tss audit export [--from-seal 1] [--to-seal 9] [--output FILE] writes what was sealed; tss audit verify FILE judges it offline",
    run: async (argv) => (await import("./audit.ts")).runAudit(argv),
  },
  config: {
    summary:
      "print every variable with its effective value and source, secrets redacted, and every fault (--json)",
    run: async (argv) => (await import("./config.ts")).runConfig(argv),
  },
  doctor: {
    summary: "look at everything that the service needs, and say what to do (--json)",
    run: async (argv) => (await import("./doctor.ts")).runDoctorCommand(argv),
  },
  demo: {
    summary:
      "start a service in a throw-away folder, make a key, sign, verify (--curve --algorithm --hash --message --json)",
    run: async (argv) => (await import("./demo.ts")).runDemo(argv),
  },
};

const [name = "help", ...argv] = process.argv.slice(2);
const command = COMMANDS[name];
if (command && (argv.includes("--help") || argv.includes("-h"))) {
  console.log(`tss ${name}: ${command.summary}`);
} else if (command) {
  try {
    await command.run(argv);
  } catch (error) {
    const { createRedact } = await import("../telemetry/redact.ts");
    console.error(createRedact()(`tss ${name}: ${error instanceof Error ? error.message : String(error)}`));
    process.exitCode = 1;
  }
} else {
  const wanted = ["help", "--help", "-h"].includes(name);
  const lines = Object.entries(COMMANDS).map(([n, c]) => `  ${n.padEnd(10)}${c.summary}`);
  console[wanted ? "log" : "error"](
    [
      ...(wanted ? [] : [`tss: there is no command "${name}"`, ""]),
      "usage: tss <command>",
      "",
      ...lines,
    ].join("\n"),
  );
  process.exitCode = wanted ? 0 : 2;
}
