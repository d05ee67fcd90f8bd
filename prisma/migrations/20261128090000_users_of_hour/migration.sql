-- The users of a project by hour, so that a list of one month's users reads the rows of that month alone.
-- CreateIndex
CREATE INDEX "ledger_user_hour_project_id_hour_idx" ON "ledger_user_hour"("project_id", "hour");
