/** What the protocol's own conformance suite expects a server to hold: tools, resources and prompts with fixed names and answers. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV file of no samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

type Json = Record<string, unknown>;
type Arguments = Readonly<Record<string, string>>;

/** A question of revision 2026-07-28. */
export interface FixtureQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Json;
}
export type AskAll = (questions: Readonly<Record<string, FixtureQuestion>>) => Promise<Readonly<Record<string, Json>>>;

/** What a running tool can do besides answering. */
export interface FixtureCall {
  readonly args: Arguments;
  readonly log: (data: string) => Promise<void>;
  readonly progress: (progress: number, total: number) => Promise<void>;
  /** Several questions at once, on the leg of 2026-07-28 alone. */
  readonly askAll: AskAll;
  /** Whether the client can be asked that. */
  readonly can: (capability: string) => boolean;
  readonly ask: (method: 'sampling/createMessage' | 'elicitation/create', params: Json) => Promise<Json>;
}

export interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json & { readonly type: 'object' };
  run(call: FixtureCall): Promise<Json> | Json;
}

const text = (value: string): Json => ({ type: 'text', text: value });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, value: string): Json => ({ type: 'resource', resource: { uri, mimeType, text: value } });
const content = (...parts: Json[]): Json => ({ content: parts });
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

function tool(name: string, run: FixtureTool['run'], properties: Json = {}): FixtureTool {
  const required = Object.keys(properties);
  const inputSchema = { type: 'object', properties, ...(required.length === 0 ? {} : { required }) } as const;
  return { name, description: `Fixture of the conformance suite: ${name}.`, inputSchema, run };
}

async function elicit(call: FixtureCall, message: string, properties: Json, required: readonly string[] = []): Promise<Json> {
  return call.ask('elicitation/create', { message, requestedSchema: { type: 'object', properties, required } });
}

const completed = ({ action, content: given }: Json): Json =>
  content(text(`Elicitation completed: action=${String(action)}, content=${JSON.stringify(given ?? {})}`));

const titled = (...titles: readonly string[]): Json[] => titles.map((title, i) => ({ const: `value${i + 1}`, title }));

export const fixtureTools: readonly FixtureTool[] = [
  tool('test_simple_text', () => content(text('This is a simple text response for testing.'))),
  tool('test_image_content', () => content(image)),
  tool('test_audio_content', () => content({ type: 'audio', data: WAV, mimeType: 'audio/wav' })),
  tool('test_embedded_resource', () =>
    content(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  ),
  tool('test_multiple_content_types', () =>
    content(
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', JSON.stringify({ test: 'data', value: 123 })),
    ),
  ),
  tool('test_tool_with_logging', async ({ log }) => {
    await log('Tool execution started');
    await pause();
    await log('Tool processing data');
    await pause();
    await log('Tool execution completed');
    return content(text('Tool with logging executed'));
  }),
  tool('test_error_handling', () => ({ isError: true, ...content(text('This tool intentionally returns an error for testing')) })),
  tool('test_tool_with_progress', async ({ progress }) => {
    await progress(0, 100);
    await pause();
    await progress(50, 100);
    await pause();
    await progress(100, 100);
    return content(text('Tool with progress executed'));
  }),
  tool(
    'test_sampling',
    async ({ args, ask }) => {
      const messages = [{ role: 'user', content: text(args['prompt'] ?? '') }];
      const sampled = (await ask('sampling/createMessage', { messages, maxTokens: 100 }))['content'] as { readonly text?: string };
      return content(text(`LLM response: ${sampled.text ?? ''}`));
    },
    { prompt: { type: 'string' } },
  ),
  tool(
    'test_elicitation',
    async (call) => {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      const answer = await elicit(call, call.args['message'] ?? '', properties, ['username', 'email']);
      return content(text(`User response: action: ${String(answer['action'])}, content: ${JSON.stringify(answer['content'] ?? {})}`));
    },
    { message: { type: 'string' } },
  ),
  tool('test_elicitation_sep1034_defaults', async (call) =>
    completed(
      await elicit(call, 'Values with defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    ),
  ),
  tool('test_elicitation_sep1330_enums', async (call) => {
    const options = ['option1', 'option2', 'option3'];
    return completed(
      await elicit(call, 'Choices', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
      }),
    );
  }),
];

const form = (message: string, properties: Json): FixtureQuestion => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } },
});
const sample = (prompt: string): FixtureQuestion => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 },
});
const roots: FixtureQuestion = { method: 'roots/list', params: {} };
const userName = form('What is your name?', { name: { type: 'string' } });
const okForm = form('Please confirm', { ok: { type: 'boolean' } });

function asks(name: string, questions: Readonly<Record<string, FixtureQuestion>>, done: string): FixtureTool {
  return tool(name, async ({ askAll }) => content(text(`${done} ${JSON.stringify(await askAll(questions))}`)));
}

/** Called by scenarios of 2026-07-28 alone. */
export const modernFixtureTools: readonly FixtureTool[] = [
  asks('test_input_required_result_elicitation', { user_name: userName }, 'Hello,'),
  asks('test_input_required_result_sampling', { capital_question: sample('What is the capital of France?') }, 'Sampled'),
  asks('test_input_required_result_list_roots', { client_roots: roots }, 'Roots'),
  asks('test_input_required_result_request_state', { confirm: okForm }, 'state-ok'),
  asks('test_input_required_result_tampered_state', { confirm: okForm }, 'state-ok'),
  asks(
    'test_input_required_result_multiple_inputs',
    { user_name: userName, greeting: sample('Generate a greeting'), client_roots: roots },
    'All of',
  ),
  tool('test_input_required_result_multi_round', async ({ askAll }) => {
    await askAll({ step1: form('Step 1: What is your name?', { name: { type: 'string' } }) });
    const { step1, step2 } = await askAll({ step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) });
    return content(text(JSON.stringify([step1, step2])));
  }),
  tool('test_input_required_result_capabilities', async ({ askAll, can }) => {
    const questions = { ...(can('elicitation') ? { user_name: userName } : {}), ...(can('sampling') ? { greeting: sample('Greet') } : {}) };
    return content(text(JSON.stringify(await askAll(questions))));
  }),
  tool('test_missing_capability', () => content(text('never without sampling'))),
  tool('test_streaming_elicitation', () => content(text('answered without asking'))),
  tool('test_logging_tool', () => content(text('answered without a log line'))),
];

const resource = (uri: string, mimeType: string): Json => ({ uri, name: uri, description: `Fixture ${uri}`, mimeType });
export const resources = [
  resource('test://static-text', 'text/plain'),
  resource('test://static-binary', 'image/png'),
  resource('test://watched-resource', 'text/plain'),
];
export const templates = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'Fixture template', mimeType: 'application/json' },
];

export function readResource(uri: string): Json | undefined {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined)
    return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG };
  if (uri === 'test://static-text') return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  return uri === 'test://watched-resource' ? { uri, mimeType: 'text/plain', text: 'Watched' } : undefined;
}

const argument = (name: string): Json => ({ name, description: `Argument ${name}`, required: true });
const user = (part: Json): Json => ({ role: 'user', content: part });
const prompt = (name: string, names: readonly string[], messages: (args: Arguments) => Json[]) => ({
  listing: { name, description: `Fixture ${name}`, arguments: names.map(argument) },
  messages,
});

export const prompts = [
  prompt('test_simple_prompt', [], () => [user(text('This is a simple prompt for testing.'))]),
  prompt('test_prompt_with_arguments', ['arg1', 'arg2'], ({ arg1, arg2 }) => [
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ]),
  prompt('test_prompt_with_embedded_resource', ['resourceUri'], ({ resourceUri = '' }) => [
    user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
    user(text('Please process the embedded resource above.')),
  ]),
  prompt('test_prompt_with_image', [], () => [user(image), user(text('Please analyze the image above.'))]),
];

/** A prompt that asks first (2026-07-28). */
export const askingPrompt = {
  listing: { name: 'test_input_required_result_prompt', description: 'Fixture that asks', arguments: [] },
  get: async (askAll: AskAll): Promise<Json> => {
    const answers = await askAll({ user_context: form('What context should the prompt use?', { context: { type: 'string' } }) });
    return { messages: [user(text(`Context: ${JSON.stringify(answers['user_context'])}`))] };
  },
};
