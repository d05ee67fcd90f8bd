/** `tss audit export` and `tss audit verify`; each loads only what it needs. */
export async function runAudit([command, ...argv]: readonly string[]): Promise<void> {
  switch (command) {
    case "export":
      return (await import("./audit-export.ts")).runAuditExport(argv);
    case "verify":
      return (await import("./audit-verify.ts")).runAuditVerify(argv);
    default:
      throw new Error("usage: tss audit export [--output FILE], or tss audit verify FILE");
  }
}
