/** Whether a call is in the component's own code, or in a library or the language itself. */
import type { Language, RawFrame } from './crash.ts';

/** Folders in which package managers and languages keep what others wrote. */
const LIBRARY_FILE =
  /(?:^|\/)(?:site-packages|dist-packages|node_modules|bower_components|gems|vendor|\.pnpm|\.yarn)\/|\/(?:usr|opt|pyenv|\.pyenv|conda|miniconda3|anaconda3)(?:\/[^/]+){0,4}\/lib\/(?:python|ruby)|\/lib\/(?:python\d|ruby\/)|\/\.?(?:rbenv|rvm|asdf)\/|^<frozen |^<internal:|^<__array_function__|^<attrs generated|^node:|^internal\/|^webpack\/|^\/rustc\/|\/\.cargo\/(?:registry|git)\/|\/\.rustup\/|^library\/(?:std|core|alloc)\/|^\/?(?:usr\/local|usr\/lib|opt\/hostedtoolcache|snap)\/go\b|^\/usr\/(?:share|lib|local\/share|local\/lib)(?:\/[\w.-]+){0,3}\/(?:perl\d?|php)\b|^\.\.\/(?:sysdeps|csu|nptl|stdlib)\/|\/libsanitizer\/|\/go\/pkg\/mod\/|\/go[\d.-]*\/src\/(?:runtime|net|os|sync|internal|testing|syscall|reflect)\/|@v\d+\.\d+\.\d+/;

const LIBRARY_FUNCTION: Readonly<Record<Language, RegExp | null>> = {
  python: null,
  node: /^(?:node:|Module\._|Module\.load|Function\.Module|Object\.Module|internal\/)/,
  go: /^(?:runtime|panic$|sync|net|os|io|syscall|reflect|internal|testing|encoding|fmt|strings|strconv|bufio|bytes|context|database|crypto|time|sort|log|errors|path|regexp|html|text|math|unicode|slices|maps|iter|golang\.org\/x|google\.golang\.org)(?:[./(]|$)/,
  jvm: /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|akka|reactor|android|androidx|dalvik|org\.(?:springframework|apache|hibernate|eclipse|slf4j|junit|postgresql|jboss|gradle|codehaus|mariadb|glassfish|aspectj|jetbrains|xnio|flywaydb|quartz)|io\.(?:netty|grpc|quarkus|micronaut|micrometer|vertx|undertow|lettuce|reactivex|projectreactor|r2dbc|ktor)|com\.(?:zaxxer|fasterxml|mysql|google|amazonaws|rabbitmq|mongodb|squareup|datastax|oracle|microsoft\.sqlserver|intellij)|ch\.qos|redis\.clients|okhttp3|retrofit2|net\.(?:bytebuddy|sf)|software\.amazon)\./,
  rust: /^(?:<?(?:std|core|alloc|tokio|futures|futures_util|rayon_core|rayon|hyper|actix_rt|anyhow|backtrace|tracing|test)(?:::|\[)|<(?:alloc|core|std|tokio|F as core|T as core)\b|rust_begin_unwind|rust_panic|__rust|_?start$|_start|main$|__libc|clone\d*$|start_thread|__GI_|_rjem_|<unknown>)/,
  ruby: /^(?:ENV|Kernel|Array|Hash|Integer|String|Enumerable|Enumerator|Proc|Symbol|IO|File|Dir|Socket|TCPSocket|Struct|Thread|Class|Module|BasicObject)[.#]/,
  dotnet:
    /^(?:System|Microsoft|Newtonsoft|Npgsql|MySql|MySqlConnector|StackExchange|Grpc|Serilog|NLog|AutoMapper|MediatR|Polly|Dapper|Quartz|MassTransit|Hangfire|Castle|Autofac|RabbitMQ|Confluent|Azure|Amazon|MongoDB|Interop)\./,
  php: null,
  perl: null,
  native: /^(?:__|_start$|std::|abort$|raise$|malloc|free$|operator new)/,
  shell: null,
};

/** Names that stand for no file: built-in functions and native code. */
const NO_FILE = /^(?:<anonymous>|native|\[native code\])$/;

export function isInApp(frame: RawFrame, language: Language): boolean {
  const { file, function: name } = frame;
  if (name !== null && LIBRARY_FUNCTION[language]?.test(name)) return false;
  if (file === null) return name !== null && (language === 'jvm' || language === 'dotnet' || language === 'rust');
  return !NO_FILE.test(file) && !LIBRARY_FILE.test(file.replaceAll('\\', '/'));
}
