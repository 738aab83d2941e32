/** Whether a made multilingual model is the one its calibration belongs to: its cosines of a few texts are known. */
import { LocalEmbeddingProvider } from './local.ts';

/** Between questions and memories; measured on the model as ONNX Runtime 1.30 runs it. */
const KNOWN: readonly (readonly [query: string, passage: string, cosine: number])[] = [
  ['数据库什么时候备份', '服务器每天凌晨两点备份数据库', 0.908],
  ['数据库什么时候备份', 'The backup job runs at 2 am every night', 0.776],
  ['数据库什么时候备份', '王芳吃花生会起疹子，不能碰坚果', 0.803],
  ['What is she allergic to?', 'Maria cannot eat peanuts, they give her a rash', 0.798],
  ['数据库什么时候备份', 'サーバーのバックアップは毎晩二時に行われる', 0.87],
];
/** Processors without 8-bit dot products round elsewhere; another model is off by far more. */
const TOLERANCE = 0.02;

/** Throws when the model in `modelsDir` cannot be loaded or gives other vectors. */
export async function checkMultilingual(modelsDir: string): Promise<void> {
  const provider = new LocalEmbeddingProvider({ modelsDir, profile: 'local-multilingual' });
  try {
    await provider.ready();
    const space = provider.spaces[0]?.name ?? '';
    for (const [query, passage, known] of KNOWN) {
      const [a] = await provider.embed(space, [query], 'query');
      const [b] = await provider.embed(space, [passage], 'passage');
      let cosine = 0;
      a?.forEach((x, i) => (cosine += x * (b?.[i] ?? 0)));
      if (Math.abs(cosine - known) > TOLERANCE) throw new Error(`a cosine is ${cosine.toFixed(3)}, not ${known.toFixed(3)}`);
    }
  } finally {
    await provider.close();
  }
}
