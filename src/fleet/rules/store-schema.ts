/**
 * The tables that hosts share, one entry for each version. They are only ever added to, so that hosts of two versions can share them while
 * they are upgraded one by one. Pure.
 */

/** What a program must know to write here. Raised only when an older one would do harm. */
export const COMPATIBLE = 1;

/** PostgreSQL from this version on; older ones are not maintained any more. */
export const OLDEST_SERVER = 12;

/** In every database the same, so that hosts wait for each other: while tables are made, while incidents are merged, and who alerts. */
export const LOCKS = { tables: '7311470571401', incidents: '7311470571402', alerter: '7311470571403' } as const;

export const MIGRATIONS: readonly string[] = [
  `
create table keepwell.meta (version int not null, compatible int not null);
insert into keepwell.meta values (0, ${COMPATIBLE});

create table keepwell.hosts (
  id text primary key,
  name text not null,
  project text not null,
  machine text not null,
  home text not null,
  version text not null,
  state text not null check (state in ('up', 'down', 'replaced')),
  since timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  events_to bigint not null default 0,
  crashes_to bigint not null default 0,
  status jsonb,
  status_at timestamptz
);
create index on keepwell.hosts (machine, home);

create table keepwell.events (
  host text not null,
  seq bigint not null,
  at timestamptz not null,
  type text not null,
  subject_kind text not null,
  subject_name text not null,
  run_id text,
  data jsonb not null,
  primary key (host, seq)
);
create index on keepwell.events (at);

create table keepwell.crashes (
  host text not null,
  run_id text not null,
  subject_kind text not null,
  subject_name text not null,
  seq bigint not null,
  at timestamptz not null,
  fingerprint text,
  error_type text,
  root_cause text,
  record jsonb not null,
  primary key (host, run_id, subject_kind, subject_name)
);
create index on keepwell.crashes (at);

create table keepwell.host_incidents (
  host text not null,
  id bigint not null,
  fingerprint text not null,
  state text not null check (state in ('open', 'resolved')),
  count bigint not null,
  last_at timestamptz not null,
  record jsonb not null,
  primary key (host, id)
);
create index on keepwell.host_incidents (fingerprint);

create table keepwell.incidents (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('problem', 'host-silent')),
  fingerprint text not null,
  state text not null check (state in ('open', 'resolved')),
  title text not null,
  root_cause text,
  opened_at timestamptz not null,
  last_at timestamptz not null,
  resolved_at timestamptz
);
create unique index one_open_incident on keepwell.incidents (fingerprint) where state = 'open';
create index on keepwell.incidents (last_at);

create table keepwell.alerts (
  incident bigint primary key references keepwell.incidents on delete cascade,
  host text not null,
  at timestamptz not null default now()
);

create table keepwell.tickets (
  id bigint generated always as identity primary key,
  fingerprint text not null,
  state text not null check (state in ('open', 'closed')),
  host text not null,
  number bigint not null,
  title text not null,
  links jsonb not null,
  opened_at timestamptz not null default now(),
  closed_at timestamptz
);
create unique index one_open_ticket on keepwell.tickets (fingerprint) where state = 'open';
`,
];
