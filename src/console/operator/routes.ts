import type { Route } from "../route.ts";

/** The operator's pages, in the order of the menu. */
export const OPERATOR_ROUTES: readonly Route[] = [
  {
    path: "",
    menu: "",
    title: "Overview",
    load: async () => (await import("./overview-page.tsx")).OverviewPage,
  },
  {
    path: "signatures",
    menu: "signatures",
    group: "Signing",
    title: "Signatures",
    load: async () => (await import("./signatures-page.tsx")).SignaturesPage,
  },
  {
    path: "presigns",
    menu: "presigns",
    group: "Signing",
    title: "Presigns",
    load: async () => (await import("./presigns-page.tsx")).PresignsPage,
  },
  {
    path: "lanes",
    menu: "lanes",
    group: "Chain",
    title: "Lanes and outbox",
    load: async () => (await import("./lanes-page.tsx")).LanesPage,
  },
  {
    path: "transactions",
    menu: "transactions",
    group: "Chain",
    title: "Transactions",
    load: async () => (await import("./transactions-page.tsx")).TransactionsPage,
  },
  {
    path: "treasury",
    menu: "treasury",
    group: "Chain",
    title: "Treasury and gas",
    load: async () => (await import("./treasury-page.tsx")).TreasuryPage,
  },
  {
    path: "money",
    menu: "money",
    group: "Money",
    title: "Money",
    load: async () => (await import("./money-page.tsx")).MoneyPage,
  },
  {
    path: "projects",
    menu: "projects",
    group: "Access",
    title: "Projects",
    load: async () => (await import("./projects-page.tsx")).ProjectsPage,
  },
  {
    path: "projects",
    menu: "projects",
    title: "Project",
    hasId: true,
    load: async () => (await import("./project-page.tsx")).ProjectPage,
  },
  {
    path: "admin-keys",
    menu: "admin-keys",
    group: "Access",
    title: "Admin keys",
    load: async () => (await import("./admin-keys-page.tsx")).AdminKeysPage,
  },
  {
    path: "audit",
    menu: "audit",
    group: "Access",
    title: "Audit trail",
    load: async () => (await import("./audit-page.tsx")).AuditPage,
  },
  {
    path: "audit",
    menu: "audit",
    title: "Audit event",
    hasId: true,
    load: async () => (await import("./audit-event-page.tsx")).AuditEventPage,
  },
  {
    path: "seals",
    menu: "audit",
    title: "Seals",
    load: async () => (await import("./seals-page.tsx")).SealsPage,
  },
];
