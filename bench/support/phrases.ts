/** Word lists and sentence patterns of the made-up memories, Chinese and English; invented for the bench, taken from no data set. */

export interface Phrases {
  readonly people: readonly string[];
  readonly things: readonly string[];
  readonly places: readonly string[];
  readonly topics: readonly string[];
  readonly feelings: readonly string[];
  /** Sentences with {person}, {other}, {thing}, {place}, {topic}, {feeling}, {n}, {code}, {date}. */
  readonly sentences: readonly string[];
  readonly questions: readonly string[];
  readonly date: (month: number, day: number) => string;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const words = (text: string): string[] => text.split(',').map((word) => word.trim());

export const ENGLISH: Phrases = {
  people: words(
    'Ana,Marcus,Priya,Tom,Elena,Noah,Grace,Victor,Lucia,Owen,Hannah,Samir,Ingrid,Felix,Maya,Peter,Nadia,Oliver,Clara,Hugo,Irene,Jonas,Leila,Martin',
  ),
  things: words(
    'green tea,a road bike,the quarterly report,her grandmother’s ring,a film camera,the staging database,sourdough bread,a second-hand piano,the onboarding guide,running shoes,a telescope,the payment gateway,a chess set,oat milk,the garden fence,an old passport,a sleeping bag,the release checklist,noise-cancelling headphones,a pottery course,the coffee grinder,his medical file,a language app,the backup server',
  ),
  places: words(
    'Lisbon,the north office,Osaka,the climbing gym,a lake near Geneva,the city library,Porto,the harbour market,Nairobi,the old workshop,Montreal,the hospital canteen,Utrecht,the rooftop garden,Valparaíso,the night train',
  ),
  topics: words(
    'the budget,a surprise birthday party,the migration to the new cluster,sleeping badly,moving to another flat,the marathon in spring,learning Portuguese,the broken elevator,a peanut allergy,the interview next week,the lost suitcase,quitting sugar,the product launch,a stubborn memory leak,her sister’s wedding,the visa application',
  ),
  feelings: words('relieved,nervous,proud,tired,curious,annoyed,grateful,hopeful,a bit lonely,excited'),
  sentences: [
    '{person} prefers {thing} and asked {other} to remember it.',
    '{person} talked with {other} about {topic} in {place} and felt {feeling} afterwards.',
    'On {date} {person} bought {thing} in {place} for {n} euros.',
    'The ticket {code} says that {thing} has to be ready before {date}.',
    '{other} recommended {place} to {person} because of {topic}.',
    '{person} said: "I have been {feeling} since we spoke about {topic}, can we look at it again?"',
    'For {topic} the team agreed on option {n}; {person} writes it down and {other} checks it.',
    '{person} never drinks coffee after four and keeps {thing} at the desk.',
    'After {n} days in {place} {person} decided to sell {thing}.',
    '{other} forgot {thing} at {place}, and {person} brought it back on {date}.',
    'The deployment {code} failed twice because of {topic}; the third try took {n} minutes.',
    '{person} wants answers in short sentences and feels {feeling} about long mails.',
  ],
  questions: [
    'What does {person} prefer to {thing}?',
    'Where did {person} buy {thing}?',
    'What did {person} and {other} say about {topic}?',
    'When did {person} go to {place}?',
    'How did {person} feel about {topic}?',
    'What happened on {date} in {place}?',
    'Who recommended {place} to {person}?',
    'What is ticket {code} about?',
    'What was decided about {topic}?',
    'Did {other} ever bring back {thing}?',
  ],
  date: (month, day) => `${day} ${MONTHS[month - 1] ?? 'May'}`,
};

export const CHINESE: Phrases = {
  people: words(
    '王磊,李静,陈思雨,赵明,孙悦,周凯,吴倩,郑浩,冯雪,蒋涛,韩冰,杨帆,朱琳,秦朗,许诺,何佳,吕航,施雯,张弛,孔宁,曹阳,严谨,华荣,金晶',
  ),
  things: words(
    '龙井茶,公路自行车,季度报告,奶奶留下的戒指,胶片相机,测试数据库,全麦面包,二手钢琴,新人手册,跑步鞋,天文望远镜,支付网关,围棋棋盘,燕麦奶,院子的篱笆,旧护照,睡袋,发布清单,降噪耳机,陶艺课,磨豆机,体检报告,英语学习软件,备份服务器',
  ),
  places: words(
    '杭州西湖,北区办公室,成都宽窄巷子,攀岩馆,千岛湖,市图书馆,厦门鼓浪屿,海鲜市场,昆明翠湖,老厂房,大连星海广场,医院食堂,苏州平江路,楼顶花园,哈尔滨中央大街,夜班火车',
  ),
  topics: words(
    '预算问题,生日惊喜,集群迁移,最近失眠,换房子,春天的马拉松,学葡萄牙语,电梯故障,花生过敏,下周的面试,丢失的行李箱,戒糖计划,产品发布会,内存泄漏,妹妹的婚礼,签证申请',
  ),
  feelings: words('松了一口气,有点紧张,很自豪,很疲惫,很好奇,有些生气,很感激,充满希望,有点孤单,特别激动'),
  sentences: [
    '{person}更喜欢{thing}，还让{other}一定记住。',
    '{person}和{other}在{place}聊了{topic}，聊完以后{feeling}。',
    '{date}{person}在{place}花了{n}块钱买了{thing}。',
    '工单{code}写着：{thing}必须在{date}之前准备好。',
    '因为{topic}，{other}向{person}推荐了{place}。',
    '{person}说：“自从谈到{topic}，我一直{feeling}，能不能再看一遍？”',
    '关于{topic}，大家决定用第{n}个方案，{person}负责记录，{other}负责检查。',
    '{person}下午四点以后从不喝咖啡，桌上总放着{thing}。',
    '在{place}待了{n}天以后，{person}决定把{thing}卖掉。',
    '{other}把{thing}忘在了{place}，{date}{person}帮忙带了回来。',
    '因为{topic}，部署{code}失败了两次，第三次用了{n}分钟。',
    '{person}希望回答简短一些，看到很长的邮件会{feeling}。',
  ],
  questions: [
    '{person}更喜欢什么，是{thing}吗？',
    '{person}在哪里买了{thing}？',
    '{person}和{other}聊{topic}的时候说了什么？',
    '{person}什么时候去了{place}？',
    '说到{topic}，{person}的心情怎么样？',
    '{date}在{place}发生了什么事？',
    '是谁向{person}推荐了{place}？',
    '工单{code}说的是什么？',
    '关于{topic}最后决定了什么？',
    '{other}后来把{thing}带回来了吗？',
  ],
  date: (month, day) => `${month}月${day}日`,
};
